//@ expect: assert
//@ execs: 100
//@ cause: int n = atomic_load(&count); | atomic_store(&count, 1);
//@ says: count ready T1 T2
// A writer that yields between two writes may well go on at once: the reader then sees the second without the first.
#include <assert.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

static atomic_int ready, count;

static void *writer(void *arg)
{
    (void)arg;
    atomic_store(&count, 1);
    sched_yield();
    atomic_store(&ready, 1);
    return NULL;
}

static void *reader(void *arg)
{
    (void)arg;
    int n = atomic_load(&count); // too early: `ready` is what tells that it can be read
    if (atomic_load(&ready))
        assert(n == 1);
    return NULL;
}

int main(void)
{
    pthread_t a, b;
    pthread_create(&a, NULL, writer, NULL);
    pthread_create(&b, NULL, reader, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return 0;
}
