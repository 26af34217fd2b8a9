//@ none
// A relaxed update carries the release on.
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

static atomic_int count;
static int data;
int seen; // what is never looked at would not be read

static void *first(void *arg)
{
    data = 42;
    atomic_store_explicit(&count, 2, memory_order_release);
    atomic_fetch_sub_explicit(&count, 1, memory_order_relaxed);
    return arg;
}

static void *second(void *arg)
{
    if (atomic_load_explicit(&count, memory_order_acquire) == 1)
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
