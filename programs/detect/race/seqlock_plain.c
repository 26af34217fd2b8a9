//@ race: a b
//@ tsan: differs: real threads seldom meet in the few instructions between its fences
// A sequence lock with plain data: right on most machines, and a race by the letter.
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

static atomic_uint version;
static int data;
int seen; // what is never looked at would not be read

static void *first(void *arg)
{
    unsigned v = atomic_load_explicit(&version, memory_order_relaxed);
    atomic_store_explicit(&version, v + 1, memory_order_relaxed);
    atomic_thread_fence(memory_order_release);
    data = 1; //= a
    atomic_store_explicit(&version, v + 2, memory_order_release);
    return arg;
}

static void *second(void *arg)
{
    unsigned before = atomic_load_explicit(&version, memory_order_acquire);
    int d = data; //= b
    atomic_thread_fence(memory_order_acquire);
    if (before % 2 == 0 && before == atomic_load_explicit(&version, memory_order_relaxed))
        seen = d;
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
