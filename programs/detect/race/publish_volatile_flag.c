//@ none
//@ tsan: differs: volatile is plain memory to it
// Old style: a volatile flag. We take volatile for acquire and release.
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

static volatile int ready;
static int data;
int seen; // what is never looked at would not be read

static void *first(void *arg)
{
    data = 42;
    ready = 1;
    return arg;
}

static void *second(void *arg)
{
    while (!ready) {
    }
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
