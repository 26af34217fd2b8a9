//@ race: a b
// A write of two bytes and a read of one of them.
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

union {
    short wide[2];
    char bytes[4];
} it;

static void *first(void *arg)
{
    it.wide[0] = 1; //= a
    return arg;
}

static void *second(void *arg)
{
    it.bytes[1] = 2; //= b
    it.bytes[2] = 3;
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
