//@ expect: deadlock
//@ execs: 1000
//@ cause: atomic_store(&begun[me], 1); | if (atomic_load(&begun[next]))
//@ says: T1 T2 T3
// Each of three threads joins the next if that one has begun: if all have, a cycle of joins.
// (Three, because glibc answers EDEADLK to two threads that join each other.)
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdint.h>

static pthread_t thread[3];
static sem_t named;
static atomic_int begun[3];

static void *worker(void *arg)
{
    int me = (int)(intptr_t)arg, next = (me + 1) % 3;
    sem_wait(&named); // all names are known
    atomic_store(&begun[me], 1);
    if (atomic_load(&begun[next]))
        pthread_join(thread[next], NULL);
    return NULL;
}

int main(void)
{
    sem_init(&named, 0, 0);
    for (int i = 0; i < 3; i++)
        pthread_create(&thread[i], NULL, worker, (void *)(intptr_t)i);
    for (int i = 0; i < 3; i++)
        sem_post(&named);
    pthread_exit(NULL);
}
