//@ race: one other
// An uninstrumented library annotates what its users do to its object.
#include <pthread.h>
#include <stddef.h>

void __tsan_external_write(void *object, void *caller, void *tag);

static char object[16];

static void *first(void *arg)
{
    __tsan_external_write(object, __builtin_return_address(0), NULL); //= one
    return arg;
}

static void *second(void *arg)
{
    __tsan_external_write(object, __builtin_return_address(0), NULL); //= other
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
