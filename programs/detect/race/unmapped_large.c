//@ race: a b
//@ tsan: differs: it does not know who read first
// Memory goes back to the kernel while a reader may still have it; nearly all of the mapping was never used.
#include <pthread.h>
#include <stdatomic.h>
#include <sys/mman.h>

static const size_t size = 64 << 20;
static int *table;
static atomic_int has_read;

static void *reader(void *arg)
{
    int sum = table[5000000]; //= a
    atomic_store_explicit(&has_read, 1 + sum, memory_order_relaxed);
    return arg;
}

int main(void)
{
    table = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    pthread_t other;
    pthread_create(&other, NULL, reader, NULL);
    while (!atomic_load_explicit(&has_read, memory_order_relaxed))
        ;
    munmap(table, size); //= b
    pthread_join(other, NULL);
    return 0;
}
