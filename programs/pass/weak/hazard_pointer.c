//@ expect: pass
//@ execs: 2000
//@ memory-model: c11
// A hazard pointer: announce, fence, validate. The thread that retires the block sees the announcement, or it retries.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

struct block {
    int value;
};

static _Atomic(struct block *) current, hazard;

static void *reader(void *arg)
{
    (void)arg;
    struct block *it = atomic_load_explicit(&current, memory_order_acquire);
    for (;;) {
        atomic_store_explicit(&hazard, it, memory_order_relaxed);
        atomic_thread_fence(memory_order_seq_cst);
        struct block *again = atomic_load_explicit(&current, memory_order_acquire);
        if (again == it)
            break;
        it = again;
    }
    assert(it->value == 1 || it->value == 2);
    atomic_store_explicit(&hazard, NULL, memory_order_release);
    return NULL;
}

int main(void)
{
    pthread_t t;
    struct block *old = malloc(sizeof *old), *new = malloc(sizeof *new);
    old->value = 1;
    atomic_store_explicit(&current, old, memory_order_release);
    pthread_create(&t, NULL, reader, NULL);
    new->value = 2;
    atomic_store_explicit(&current, new, memory_order_release);
    atomic_thread_fence(memory_order_seq_cst);
    while (atomic_load_explicit(&hazard, memory_order_acquire) == old)
        ;
    free(old);
    pthread_join(t, NULL);
    free(new);
    return 0;
}
