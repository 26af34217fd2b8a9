//@ none
// Bit fields in different storage units are two memory locations.
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

struct {
    unsigned a : 3, : 0, b : 5;
} bits;

static void *first(void *arg)
{
    bits.a = 1;
    return arg;
}

static void *second(void *arg)
{
    bits.b = 2;
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
