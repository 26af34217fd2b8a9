//@ expect: assert
//@ execs: 1000
//@ memory-model: c11
//@ cause: atomic_store_explicit(&is_taken, 0, memory_order_relaxed); | int before = atomic_load_explicit(&count
//@ says: count T1 T2
// A spin lock that is given back by a relaxed store: the next owner reads what the last one has overwritten.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

static atomic_int is_taken, count;

static void *add(void *arg)
{
    (void)arg;
    while (atomic_exchange_explicit(&is_taken, 1, memory_order_acquire))
        ;
    int before = atomic_load_explicit(&count, memory_order_relaxed);
    atomic_store_explicit(&count, before + 1, memory_order_relaxed);
    atomic_store_explicit(&is_taken, 0, memory_order_relaxed);
    return NULL;
}

int main(void)
{
    pthread_t t[2];
    for (int i = 0; i < 2; i++)
        pthread_create(&t[i], NULL, add, NULL);
    for (int i = 0; i < 2; i++)
        pthread_join(t[i], NULL);
    assert(atomic_load(&count) == 2);
    return 0;
}
