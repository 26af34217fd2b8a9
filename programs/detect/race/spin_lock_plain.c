//@ races among: a b c d e f g h
// A lock of plain memory: its word races, and so does the data if both threads enter.
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

static int taken, count;

static void *first(void *arg)
{
    if (taken) //= a
        return arg;
    taken = 1; //= b
    count++; //= g
    taken = 0; //= c
    return arg;
}

static void *second(void *arg)
{
    if (taken) //= d
        return arg;
    taken = 1; //= e
    count++; //= h
    taken = 0; //= f
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
