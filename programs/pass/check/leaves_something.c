//@ expect: pass
//@ execs: 100
// What it does depends on how often it was called before: executions begin with main instead, where it is
// always the first call.
#include <assert.h>
#include <pthread.h>
#include <raddle.h>
#include <stdatomic.h>

static atomic_int n_calls;

static void *work(void *arg)
{
    atomic_fetch_add(&n_calls, 1);
    return arg;
}

static void counts_calls(void *arg)
{
    pthread_t thread;
    int before = atomic_load(&n_calls);
    for (int i = 0; i <= before; i++) {
        pthread_create(&thread, NULL, work, arg);
        pthread_join(thread, NULL);
    }
    assert(before == 0);
}

int main(void)
{
    raddle_check(counts_calls, NULL);
    return 0;
}
