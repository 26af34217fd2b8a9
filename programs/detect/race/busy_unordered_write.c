//@ race: a b
// After thousands of accesses to memory that threads use in turn: two threads take turns at a barrier, and in the last round
// one of them does not wait for its turn.
#include "busy.h"

#include <pthread.h>
#include <semaphore.h>
#include <stddef.h>

static pthread_barrier_t barrier;
int shared; // what nobody else could look at would not be written

static void *first(void *arg)
{
    shared = 1;
    pthread_barrier_wait(&barrier);
    pthread_barrier_wait(&barrier);
    shared = 3; //= a
    return arg;
}

static void *second(void *arg)
{
    pthread_barrier_wait(&barrier);
    shared = 2;
    pthread_barrier_wait(&barrier);
    shared = 4; //= b
    return arg;
}

int main(void)
{
    pthread_t a, b;
    be_busy();
    pthread_barrier_init(&barrier, NULL, 2);
    pthread_create(&a, NULL, first, NULL);
    pthread_create(&b, NULL, second, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return 0;
}
