//@ expect: misuse
//@ execs: 300
//@ cause: sem_post(&done); | sem_destroy(&done);
//@ says: done T0 T2
// The waiter destroys the semaphore while the poster of a second wake-up is still on its way.
#include <pthread.h>
#include <semaphore.h>
#include <stddef.h>

static sem_t done;
static int posted;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *worker(void *arg)
{
    (void)arg;
    pthread_mutex_lock(&lock);
    posted++;
    pthread_mutex_unlock(&lock);
    sem_post(&done);
    return NULL;
}

int main(void)
{
    pthread_t a, b;
    sem_init(&done, 0, 0);
    pthread_create(&a, NULL, worker, NULL);
    pthread_create(&b, NULL, worker, NULL);
    sem_wait(&done);
    pthread_mutex_lock(&lock);
    int all = posted == 2; // both have got so far, but have they posted?
    pthread_mutex_unlock(&lock);
    if (!all)
        sem_wait(&done);
    sem_destroy(&done);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return 0;
}
