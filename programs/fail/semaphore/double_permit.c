//@ expect: assert
//@ execs: 500
//@ cause: inside++;
//@ says: inside T1 T2
// The semaphore was initialised with two permits where the code needs mutual exclusion.
#include <assert.h>
#include <pthread.h>
#include <semaphore.h>

static sem_t gate;
static int inside;

static void *worker(void *arg)
{
    (void)arg;
    sem_wait(&gate);
    inside++;
    assert(inside == 1);
    inside--;
    sem_post(&gate);
    return NULL;
}

int main(void)
{
    pthread_t a, b;
    sem_init(&gate, 0, 2);
    pthread_create(&a, NULL, worker, NULL);
    pthread_create(&b, NULL, worker, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    sem_destroy(&gate);
    return 0;
}
