//@ expect: pass
//@ execs: 200
// Detached threads, by attribute and by pthread_detach, are awaited with a semaphore.
#include <assert.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>

static sem_t done;
static atomic_int ran;

static void *worker(void *arg)
{
    (void)arg;
    atomic_fetch_add(&ran, 1);
    sem_post(&done);
    return NULL;
}

int main(void)
{
    pthread_t a, b;
    pthread_attr_t attr;
    sem_init(&done, 0, 0);
    pthread_attr_init(&attr);
    pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
    pthread_create(&a, &attr, worker, NULL);
    pthread_attr_destroy(&attr);
    pthread_create(&b, NULL, worker, NULL);
    assert(pthread_detach(b) == 0);
    sem_wait(&done);
    sem_wait(&done);
    assert(ran == 2);
    return 0;
}
