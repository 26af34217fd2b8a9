//@ expect: assert
//@ execs: 200
//@ cause: atomic_store(&y, 1); | assert(atomic_load(&y) == 0);
//@ says: y T0 T2
// Two functions: executions begin with main, and the second one's bug is found as well.
#include <assert.h>
#include <pthread.h>
#include <raddle.h>
#include <stdatomic.h>

static atomic_int x, y;

static void *store_x(void *arg)
{
    atomic_store(&x, 1);
    return arg;
}

static void *store_y(void *arg)
{
    atomic_store(&y, 1);
    return arg;
}

static void harmless(void *arg)
{
    pthread_t thread;
    pthread_create(&thread, NULL, store_x, arg);
    pthread_join(thread, NULL);
    assert(atomic_load(&x) == 1);
}

static void harmful(void *arg)
{
    pthread_t thread;
    pthread_create(&thread, NULL, store_y, arg);
    assert(atomic_load(&y) == 0);
    pthread_join(thread, NULL);
}

int main(void)
{
    raddle_check(harmless, NULL);
    raddle_check(harmful, NULL);
    return 0;
}
