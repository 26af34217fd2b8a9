//@ race: a b
//@ race: write read
// The flag is plain: it races, it orders nothing, and so the data races as well.
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

static int data, ready;
int seen; // what is never looked at would not be read

static void *first(void *arg)
{
    data = 42; //= write
    ready = 1; //= a
    return arg;
}

static void *second(void *arg)
{
    if (ready) //= b
        seen = data; //= read
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
