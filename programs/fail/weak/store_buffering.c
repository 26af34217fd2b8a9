//@ expect: assert
//@ execs: 200
//@ memory-model: c11
//@ cause: atomic_load_explicit(&y | atomic_load_explicit(&x
//@ says: T1 T2
// Store buffering: each thread stores, then loads what the other stores. Without a fence both may load the old value.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

static atomic_int x, y, seen_x, seen_y;

static void *left(void *arg)
{
    (void)arg;
    atomic_store_explicit(&x, 1, memory_order_relaxed);
    atomic_store(&seen_y, atomic_load_explicit(&y, memory_order_relaxed));
    return NULL;
}

static void *right(void *arg)
{
    (void)arg;
    atomic_store_explicit(&y, 1, memory_order_relaxed);
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
