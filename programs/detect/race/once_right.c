//@ none
// Filled once.
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

static pthread_once_t once = PTHREAD_ONCE_INIT;
static int table[4];
int seen[2]; // what is never looked at would not be read

static void fill(void)
{
    for (int i = 0; i < 4; i++)
        table[i] = i;
}

static void *first(void *arg)
{
    pthread_once(&once, fill);
    seen[0] = table[3];
    return arg;
}

static void *second(void *arg)
{
    pthread_once(&once, fill);
    seen[1] = table[3];
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
