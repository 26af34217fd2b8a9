//@ none
// A sequence lock whose data is atomic, as it must be.
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

static atomic_uint version;
static atomic_int low, high;
int seen; // what is never looked at would not be read

static void *first(void *arg)
{
    unsigned v = atomic_load_explicit(&version, memory_order_relaxed);
    atomic_store_explicit(&version, v + 1, memory_order_relaxed);
    atomic_thread_fence(memory_order_release);
    atomic_store_explicit(&low, 1, memory_order_relaxed);
    atomic_store_explicit(&high, 1, memory_order_relaxed);
    atomic_store_explicit(&version, v + 2, memory_order_release);
    return arg;
}

static void *second(void *arg)
{
    unsigned before = atomic_load_explicit(&version, memory_order_acquire);
    int l = atomic_load_explicit(&low, memory_order_relaxed);
    int h = atomic_load_explicit(&high, memory_order_relaxed);
    atomic_thread_fence(memory_order_acquire);
    if (before % 2 == 0 && before == atomic_load_explicit(&version, memory_order_relaxed))
        seen = l + h;
    return arg;
}

int main(void)
{
    pthread_t a, b;
    pthread_create(&a, NULL, first, NULL);
    pthread_create(&b, NULL, second, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return 0;
}
