//@ none
// The load acquires; the store is relaxed, and an annotation makes it a release.
#include <pthread.h>
#include <stdatomic.h>

void __tsan_acquire(void *address);
void __tsan_release(void *address);

static atomic_int ready;
static int data;
int seen; // what is never looked at would not be read

static void *first(void *arg)
{
    data = 42;
    __tsan_release(&ready);
    atomic_store_explicit(&ready, 1, memory_order_relaxed);
    return arg;
}

static void *second(void *arg)
{
    if (atomic_load_explicit(&ready, memory_order_acquire))
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
