//@ race: a b
// A fence on one side only.
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

static atomic_int ready;
static int data;
int seen; // what is never looked at would not be read

static void *first(void *arg)
{
    data = 42; //= a
    atomic_store_explicit(&ready, 1, memory_order_relaxed);
    return arg;
}

static void *second(void *arg)
{
    while (!atomic_load_explicit(&ready, memory_order_relaxed)) {
    }
    atomic_thread_fence(memory_order_acquire);
    seen = data; //= b
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
