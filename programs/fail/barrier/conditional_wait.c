//@ expect: deadlock
//@ execs: 500
//@ cause: if (!atomic_load(&cancelled | atomic_store(&cancelled
//@ says: barrier T1
// A worker that sees the cancellation skips the barrier; the one that did not see it waits forever.
#include <pthread.h>
#include <stdatomic.h>

static pthread_barrier_t barrier;
static atomic_int cancelled;

static void *worker(void *arg)
{
    (void)arg;
    if (!atomic_load(&cancelled))
        pthread_barrier_wait(&barrier);
    return NULL;
}

static void *canceller(void *arg)
{
    (void)arg;
    atomic_store(&cancelled, 1);
    return NULL;
}

int main(void)
{
    pthread_t t[3];
    pthread_barrier_init(&barrier, NULL, 2);
    pthread_create(&t[0], NULL, worker, NULL);
    pthread_create(&t[1], NULL, worker, NULL);
    pthread_create(&t[2], NULL, canceller, NULL);
    for (int i = 0; i < 3; i++)
        pthread_join(t[i], NULL);
    return 0;
}
