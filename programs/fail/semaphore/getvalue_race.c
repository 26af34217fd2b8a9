//@ expect: deadlock
//@ execs: 500
//@ cause: sem_getvalue(&permits, &value); | sem_wait(&permits);
//@ says: permits T1
// "If a permit is there, take it": the value asked for is old by the time sem_wait runs.
#include <pthread.h>
#include <semaphore.h>

static sem_t permits;

static void *worker(void *arg)
{
    (void)arg;
    int value;
    sem_getvalue(&permits, &value);
    if (value > 0)
        sem_wait(&permits); // never given back: a permit is for good
    return NULL;
}

int main(void)
{
    pthread_t a, b;
    sem_init(&permits, 0, 1);
    pthread_create(&a, NULL, worker, NULL);
    pthread_create(&b, NULL, worker, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    sem_destroy(&permits);
    return 0;
}
