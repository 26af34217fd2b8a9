//@ none
// A compare-exchange that fails acquires, if its failure order says so.
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

static atomic_int state;
static int data;
int seen; // what is never looked at would not be read

static void *first(void *arg)
{
    data = 42;
    atomic_store_explicit(&state, 2, memory_order_release);
    return arg;
}

static void *second(void *arg)
{
    int expected = 0;
    if (!atomic_compare_exchange_strong_explicit(&state, &expected, 1, memory_order_acq_rel, memory_order_acquire))
        seen = data;
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
