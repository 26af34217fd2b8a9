//@ expect: pass
//@ execs: 200
// Deferred cancellation strikes at pthread_testcancel only; while disabled it stays pending.
#include <assert.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

static atomic_int pairs, singles;

static void *worker(void *arg)
{
    (void)arg;
    int old;
    for (;;) {
        pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &old);
        assert(old == PTHREAD_CANCEL_ENABLE);
        atomic_fetch_add(&singles, 1);
        pthread_testcancel(); // has no effect
        atomic_fetch_add(&pairs, 1);
        pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, NULL);
        sched_yield();
        pthread_testcancel();
    }
    return NULL;
}

int main(void)
{
    pthread_t t;
    void *result;
    pthread_create(&t, NULL, worker, NULL);
    assert(pthread_cancel(t) == 0);
    pthread_join(t, &result);
    assert(result == PTHREAD_CANCELED);
    assert(pairs == singles);
    return 0;
}
