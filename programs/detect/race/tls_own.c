//@ none
// A thread-local is each thread's own.
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

static _Thread_local int mine;
static atomic_int sum;

static void *first(void *arg)
{
    mine++;
    atomic_fetch_add(&sum, mine);
    return arg;
}

static void *second(void *arg)
{
    mine += 2;
    atomic_fetch_add(&sum, mine);
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
