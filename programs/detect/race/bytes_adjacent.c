//@ none
// Accesses to adjacent bytes of one word: no race.
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

char bytes[8];

static void *first(void *arg)
{
    for (int i = 0; i < 8; i += 2)
        bytes[i] = 1;
    return arg;
}

static void *second(void *arg)
{
    for (int i = 1; i < 8; i += 2)
        bytes[i] = 2;
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
