//@ expect: pass
//@ execs: 2000
//@ memory-model: c11
// Store buffering with sequentially consistent fences: one of the two sees the other.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

static atomic_int x, y, seen_x, seen_y;

static void *left(void *arg)
{
    (void)arg;
    atomic_store_explicit(&x, 1, memory_order_relaxed);
    atomic_thread_fence(memory_order_seq_cst);
    atomic_store(&seen_y, atomic_load_explicit(&y, memory_order_relaxed));
    return NULL;
}

static void *right(void *arg)
{
    (void)arg;
    atomic_store_explicit(&y, 1, memory_order_relaxed);
    atomic_thread_fence(memory_order_seq_cst);
    atomic_store(&seen_x, atomic_load_explicit(&x, memory_order_relaxed));
    return NULL;
}

int main(void)
{
    pthread_t l, r;
    pthread_create(&l, NULL, left, NULL);
    pthread_create(&r, NULL, right, NULL);
    pthread_join(l, NULL);
    pthread_join(r, NULL);
    assert(seen_x || seen_y);
    return 0;
}
