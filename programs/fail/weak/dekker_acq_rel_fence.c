//@ expect: assert
//@ execs: 500
//@ memory-model: c11
//@ cause: atomic_store_explicit(&flag[me], 1 | if (!atomic_load_explicit(&flag[1 - me]
//@ says: flag T1 T2
// Two threads that announce themselves and then look, with a fence that is too weak: acq_rel orders no store before a
// later load.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

static atomic_int flag[2], inside;

static void *visit(void *arg)
{
    int me = (int)(long)arg;
    atomic_store_explicit(&flag[me], 1, memory_order_relaxed);
    atomic_thread_fence(memory_order_acq_rel);
    if (!atomic_load_explicit(&flag[1 - me], memory_order_relaxed)) {
        assert(atomic_fetch_add(&inside, 1) == 0);
        // Whoever got in stays there.
    }
    return NULL;
}

int main(void)
{
    pthread_t t[2];
    for (long i = 0; i < 2; i++)
        pthread_create(&t[i], NULL, visit, (void *)i);
    for (int i = 0; i < 2; i++)
        pthread_join(t[i], NULL);
    return 0;
}
