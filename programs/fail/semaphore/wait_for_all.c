//@ expect: assert
//@ execs: 500
//@ cause: atomic_fetch_add(&sum, 10); | assert(atomic_load(&sum) == 20);
//@ says: sum T1 T3
// The collector waits for one post where there are two workers: it may sum up too early.
#include <assert.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>

static sem_t finished;
static atomic_int sum;

static void *worker(void *arg)
{
    (void)arg;
    atomic_fetch_add(&sum, 10);
    sem_post(&finished);
    return NULL;
}

static void *collector(void *arg)
{
    (void)arg;
    sem_wait(&finished);
    assert(atomic_load(&sum) == 20);
    return NULL;
}

int main(void)
{
    pthread_t t[3];
    sem_init(&finished, 0, 0);
    pthread_create(&t[0], NULL, worker, NULL);
    pthread_create(&t[1], NULL, worker, NULL);
    pthread_create(&t[2], NULL, collector, NULL);
    for (int i = 0; i < 3; i++)
        pthread_join(t[i], NULL);
    sem_destroy(&finished);
    return 0;
}
