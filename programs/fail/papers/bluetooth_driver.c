//@ expect: assert
//@ execs: 2000
//@ cause: if (atomic_load(&is_stopping)) | atomic_store(&is_stopping, 1); | assert(!atomic_load(&is_stopped)); | atomic_store(&is_stopped, 1);
//@ says: is_stopping is_stopped T1 T2
// A driver that is being stopped counts requests under way. A request that has seen "not stopping" but has
// not counted itself yet goes on in a driver that has stopped.
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
    if (atomic_load(&is_stopping))
        return arg;
    atomic_fetch_add(&n_pending, 1);
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
