//@ race: a b
// Filled before there were threads, then changed by one.
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

static int table[64];
int seen; // what is never looked at would not be read

static void *first(void *arg)
{
    for (int i = 0; i < 64; i++)
        seen += table[i]; //= a
    return arg;
}

static void *second(void *arg)
{
    table[40] = 0; //= b
    return arg;
}

int main(void)
{
    pthread_t a, b;
    for (int i = 0; i < 64; i++)
        table[i] = i;
    pthread_create(&a, NULL, first, NULL);
    pthread_create(&b, NULL, second, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return 0;
}
