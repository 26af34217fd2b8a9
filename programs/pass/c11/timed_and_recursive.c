//@ expect: pass
//@ execs: 200
//@ flags: -std=c11
// mtx_timedlock, mtx_trylock on a recursive timed mutex, cnd_timedwait that may run out of time.
#include <assert.h>
#include <stddef.h>
#include <threads.h>
#include <time.h>

static mtx_t lock;
static cnd_t never;
static int entered;

static struct timespec soon(void)
{
    struct timespec t;
    timespec_get(&t, TIME_UTC);
    t.tv_nsec += 5 * 1000 * 1000;
    t.tv_sec += t.tv_nsec / 1000000000;
    t.tv_nsec %= 1000000000;
    return t;
}

static int worker(void *arg)
{
    (void)arg;
    struct timespec until = soon();
    if (mtx_timedlock(&lock, &until) == thrd_timedout)
        mtx_lock(&lock);
    assert(mtx_trylock(&lock) == thrd_success); // recursive
    entered++;
    mtx_unlock(&lock);
    until = soon();
    int rc = cnd_timedwait(&never, &lock, &until);
    assert(rc == thrd_timedout || rc == thrd_success); // nobody signals, but wake-ups may be spurious
    mtx_unlock(&lock);
    return 0;
}

int main(void)
{
    thrd_t a, b;
    mtx_init(&lock, mtx_timed | mtx_recursive);
    cnd_init(&never);
    thrd_create(&a, worker, NULL);
    thrd_create(&b, worker, NULL);
    thrd_join(a, NULL);
    thrd_join(b, NULL);
    assert(entered == 2);
    return 0;
}
