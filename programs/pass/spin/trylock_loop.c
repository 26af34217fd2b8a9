//@ expect: pass
//@ execs: 100
// Locks that are tried for until they are free, and a semaphore that is tried for until it is posted.
#include <assert.h>
#include <pthread.h>
#include <semaphore.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_spinlock_t spin;
static sem_t posted;
static int count;

static void *add(void *arg)
{
    while (sem_trywait(&posted) != 0)
        ;
    for (int i = 0; i < 5; i++) {
        while (pthread_mutex_trylock(&lock) != 0)
            ;
        while (pthread_spin_trylock(&spin) != 0)
            ;
        count++;
        pthread_spin_unlock(&spin);
        pthread_mutex_unlock(&lock);
    }
    return arg;
}

int main(void)
{
    pthread_t threads[2];
    pthread_spin_init(&spin, PTHREAD_PROCESS_PRIVATE);
    sem_init(&posted, 0, 0);
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, add, NULL);
    for (int i = 0; i < 2; i++)
        sem_post(&posted);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    assert(count == 10);
    return 0;
}
