//@ expect: assert
//@ execs: 100
//@ cause: atomic_store(&tickets
//@ says: tickets T1 T2
// A function that is explored by itself: two threads lose an update.
#include <assert.h>
#include <pthread.h>
#include <raddle.h>
#include <stdatomic.h>

static atomic_int tickets;

static void *take(void *arg)
{
    int seen = atomic_load(&tickets);
    atomic_store(&tickets, seen + 1);
    return arg;
}

static void two_take(void *arg)
{
    pthread_t threads[2];
    atomic_store(&tickets, 0);
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, take, arg);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    assert(atomic_load(&tickets) == 2);
}

int main(void)
{
    raddle_check(two_take, NULL);
    return 0;
}
