//@ none
// The store releases; the load is relaxed, and an annotation makes it an acquire.
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
    atomic_store_explicit(&ready, 1, memory_order_release);
    return arg;
}

static void *second(void *arg)
{
    if (atomic_load_explicit(&ready, memory_order_relaxed)) {
        __tsan_acquire(&ready);
        seen = data;
    }
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
