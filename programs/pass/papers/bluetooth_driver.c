//@ expect: pass
//@ execs: 1000
// fail/papers/bluetooth_driver.c, mended: a request counts itself first, and looks then.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

static atomic_int is_stopping, is_stopped;
static atomic_int n_pending = 1; // the driver itself is one
static atomic_int may_stop;

static void done(void)
{
    if (atomic_fetch_sub(&n_pending, 1) == 1)
        atomic_store(&may_stop, 1);
}

static void *request(void *arg)
{
    atomic_fetch_add(&n_pending, 1);
    if (!atomic_load(&is_stopping))
        assert(!atomic_load(&is_stopped));
    done();
    return arg;
}

static void *stop(void *arg)
{
    atomic_store(&is_stopping, 1);
    done();
    if (atomic_load(&may_stop))
        atomic_store(&is_stopped, 1);
    return arg;
}

int main(void)
{
    pthread_t a, b;
    pthread_create(&a, NULL, request, NULL);
    pthread_create(&b, NULL, stop, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return 0;
}
