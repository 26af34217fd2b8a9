//@ expect: assert
//@ execs: 500
//@ cause: if (sem_trywait(&permits) == 0) | sem_post(&permits);
//@ says: permits T1 T2
// No permit left is taken for a closed shop; but a customer may be inside.
#include <assert.h>
#include <pthread.h>
#include <semaphore.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static sem_t permits;
static int is_closed;

static void *customer(void *arg)
{
    (void)arg;
    if (sem_trywait(&permits) == 0) {
        sem_post(&permits);
    } else {
        pthread_mutex_lock(&lock);
        assert(is_closed);
        pthread_mutex_unlock(&lock);
    }
    return NULL;
}

int main(void)
{
    pthread_t t[2];
    sem_init(&permits, 0, 1);
    for (int i = 0; i < 2; i++)
        pthread_create(&t[i], NULL, customer, NULL);
    for (int i = 0; i < 2; i++)
        pthread_join(t[i], NULL);
    return 0;
}
