//@ expect: assert
//@ execs: 500
//@ memory-model: c11
//@ cause: &head, &old, 1, memory_order_relaxed
//@ says: value T1 T2
// Treiber's stack whose push is relaxed: whoever pops a node need not see what was put into it.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

static struct {
    atomic_int value;
    int next;
} nodes[2];
static atomic_int head;

static void *push(void *arg)
{
    (void)arg;
    atomic_store_explicit(&nodes[1].value, 7, memory_order_relaxed);
    int old = atomic_load_explicit(&head, memory_order_relaxed);
    do
        nodes[1].next = old;
    while (!atomic_compare_exchange_strong_explicit(&head, &old, 1, memory_order_relaxed, memory_order_relaxed));
    return NULL;
}

static void *pop(void *arg)
{
    (void)arg;
    int it = atomic_load_explicit(&head, memory_order_acquire);
    if (it && atomic_compare_exchange_strong_explicit(&head, &it, 0, memory_order_acquire, memory_order_relaxed))
        assert(atomic_load_explicit(&nodes[it].value, memory_order_relaxed) == 7);
    return NULL;
}

int main(void)
{
    pthread_t a, b;
    pthread_create(&a, NULL, push, NULL);
    pthread_create(&b, NULL, pop, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return 0;
}
