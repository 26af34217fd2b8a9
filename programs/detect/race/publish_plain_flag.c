//@ race: a b
// The flag is plain: the race is that of the flag, and the data follows from it.
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

static int data, ready;
int seen; // what is never looked at would not be read

static void *first(void *arg)
{
    data = 42;
    ready = 1; //= a
    return arg;
}

static void *second(void *arg)
{
    if (ready) //= b
        seen = data;
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
