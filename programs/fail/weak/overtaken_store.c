//@ expect: assert
//@ execs: 1000
//@ memory-model: c11
//@ cause: atomic_store_explicit(&x, 2
//@ says: store T1 T2
// 2+2W: each thread stores to both variables, in opposite orders. Both first stores may be the ones that last.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

static atomic_int x, y;

static void *left(void *arg)
{
    (void)arg;
    atomic_store_explicit(&x, 1, memory_order_relaxed);
    atomic_store_explicit(&y, 2, memory_order_relaxed);
    return NULL;
}

static void *right(void *arg)
{
    (void)arg;
    atomic_store_explicit(&y, 1, memory_order_relaxed);
    atomic_store_explicit(&x, 2, memory_order_relaxed);
    return NULL;
}

int main(void)
{
    pthread_t l, r;
    pthread_create(&l, NULL, left, NULL);
    pthread_create(&r, NULL, right, NULL);
    pthread_join(l, NULL);
    pthread_join(r, NULL);
    assert(!(atomic_load(&x) == 1 && atomic_load(&y) == 1));
    return 0;
}
