//@ race: a b
// A counter without a lock.
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

static int count;

static void *first(void *arg)
{
    count++; //= a
    return arg;
}

static void *second(void *arg)
{
    count++; //= b
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
