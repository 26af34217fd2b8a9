//@ race: a b
// The annotation of the release comes before the write of the data.
#include <pthread.h>
#include <stdatomic.h>

void __tsan_acquire(void *address);
void __tsan_release(void *address);

static atomic_int ready;
static int data;
int seen; // what is never looked at would not be read

static void *first(void *arg)
{
    __tsan_release(&ready);
    data = 42; //= a
    atomic_store_explicit(&ready, 1, memory_order_relaxed);
    return arg;
}

static void *second(void *arg)
{
    if (atomic_load_explicit(&ready, memory_order_relaxed)) {
        __tsan_acquire(&ready);
        seen = data; //= b
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
