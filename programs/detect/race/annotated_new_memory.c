//@ none
//@ tsan: differs: its runtime knows the call, and does nothing
// An allocator of the program's own annotates when memory is reused.
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>

void AnnotateNewMemory(const char *file, int line, const volatile void *address, size_t size);

static int pool;
static atomic_int is_free;

static void *first(void *arg)
{
    pool = 1;
    atomic_store_explicit(&is_free, 1, memory_order_relaxed);
    return arg;
}

static void *second(void *arg)
{
    if (atomic_load_explicit(&is_free, memory_order_relaxed)) {
        AnnotateNewMemory(__FILE__, __LINE__, &pool, sizeof pool);
        pool = 2;
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
