//@ race: set wait
//@ race: write read
// Old style: a volatile flag. It orders nothing, and is plain memory as any other.
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

static volatile int ready;
static int data;
int seen; // what is never looked at would not be read

static void *first(void *arg)
{
    data = 42; //= write
    ready = 1; //= set
    return arg;
}

static void *second(void *arg)
{
    while (!ready) { //= wait
    }
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
