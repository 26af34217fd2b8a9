//@ expect: assert
//@ execs: 3000
//@ memory-model: c11
//@ says: T1 T2
//@ unsaid: turn
// Peterson's lock with a fence, but `turn` is only stored to: which of the two stores lasts need not be the one whose
// thread comes to its fence last.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

static atomic_int wants[2], turn, inside;

static void *enter(void *arg)
{
    int me = (int)(long)arg, other = 1 - me;
    atomic_store_explicit(&wants[me], 1, memory_order_release);
    atomic_store_explicit(&turn, other, memory_order_release);
    atomic_thread_fence(memory_order_seq_cst);
    while (atomic_load_explicit(&wants[other], memory_order_acquire) &&
           atomic_load_explicit(&turn, memory_order_acquire) == other)
        ;
    assert(atomic_fetch_add(&inside, 1) == 0);
    atomic_fetch_sub(&inside, 1);
    atomic_store_explicit(&wants[me], 0, memory_order_release);
    return NULL;
}

int main(void)
{
    pthread_t t[2];
    for (long i = 0; i < 2; i++)
        pthread_create(&t[i], NULL, enter, (void *)i);
    for (int i = 0; i < 2; i++)
        pthread_join(t[i], NULL);
    return 0;
}
