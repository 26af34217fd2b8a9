//@ expect: assert
//@ execs: 1000
//@ memory-model: c11
//@ cause: = atomic_load_explicit(&sequence, memory_order_relaxed)
//@ says: sequence T1 T2
// A seqlock whose reader looks at the sequence again without a fence: it accepts a torn pair.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

static atomic_uint sequence;
static atomic_int low, high;

static void *writer(void *arg)
{
    (void)arg;
    atomic_store_explicit(&sequence, 1, memory_order_relaxed);
    atomic_store_explicit(&low, 7, memory_order_relaxed);
    atomic_store_explicit(&high, 7, memory_order_relaxed);
    atomic_store_explicit(&sequence, 2, memory_order_release);
    return NULL;
}

static void *reader(void *arg)
{
    (void)arg;
    unsigned before = atomic_load_explicit(&sequence, memory_order_acquire);
    int a = atomic_load_explicit(&low, memory_order_relaxed);
    int b = atomic_load_explicit(&high, memory_order_relaxed);
    unsigned after = atomic_load_explicit(&sequence, memory_order_relaxed);
    if (before == after && before % 2 == 0)
        assert(a == b);
    return NULL;
}

int main(void)
{
    pthread_t w, r;
    pthread_create(&w, NULL, writer, NULL);
    pthread_create(&r, NULL, reader, NULL);
    pthread_join(w, NULL);
    pthread_join(r, NULL);
    return 0;
}
