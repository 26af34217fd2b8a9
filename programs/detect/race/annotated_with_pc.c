//@ race: one other
// An interpreter reports the accesses of the code that it interprets, and their locations.
#include <pthread.h>
#include <stddef.h>

void __tsan_read4_pc(void *address, void *pc);
void __tsan_write_range_pc(void *address, size_t size, void *pc);

static int object[4];

static void *first(void *arg)
{
    __tsan_write_range_pc(object, sizeof object, __builtin_return_address(0)); //= one
    return arg;
}

static void *second(void *arg)
{
    __tsan_read4_pc(&object[2], __builtin_return_address(0)); //= other
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
