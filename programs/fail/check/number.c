//@ expect: assert
//@ execs: 400
//@ cause: atomic_store(&flag, 1); | assert(!atomic_load(&flag));
//@ says: flag T0 T1
// The bug needs a number and a schedule: both are explored, and replayed.
#include <assert.h>
#include <pthread.h>
#include <raddle.h>
#include <stdatomic.h>

static atomic_int flag;

static void *raise_flag(void *arg)
{
    atomic_store(&flag, 1);
    return arg;
}

static void one_number(void *arg)
{
    pthread_t thread;
    atomic_store(&flag, 0);
    unsigned number = raddle_any(5);
    pthread_create(&thread, NULL, raise_flag, arg);
    if (number == 3)
        assert(!atomic_load(&flag));
    pthread_join(thread, NULL);
}

int main(void)
{
    raddle_check(one_number, NULL);
    return 0;
}
