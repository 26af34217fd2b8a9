//@ expect: pass
//@ execs: 200
//@ flags: -std=c11
// C11 tss_t with a destructor, call_once, thrd_current/thrd_equal, thrd_exit, thrd_detach.
#include <assert.h>
#include <stdatomic.h>
#include <stddef.h>
#include <threads.h>

static once_flag once = ONCE_FLAG_INIT;
static tss_t slot;
static int inits;
static atomic_int flushed, detached_done;
static int one = 1, two = 2;

static void init(void)
{
    inits++;
}

static void flush(void *value)
{
    atomic_fetch_add(&flushed, *(int *)value);
}

static int worker(void *arg)
{
    call_once(&once, init);
    assert(inits == 1);
    tss_set(slot, arg);
    assert(tss_get(slot) == arg && thrd_equal(thrd_current(), thrd_current()));
    thrd_exit(*(int *)arg);
}

static int loner(void *arg)
{
    (void)arg;
    atomic_store(&detached_done, 1);
    return 0;
}

int main(void)
{
    thrd_t a, b, c;
    int ra, rb;
    assert(tss_create(&slot, flush) == thrd_success);
    thrd_create(&a, worker, &one);
    thrd_create(&b, worker, &two);
    thrd_create(&c, loner, NULL);
    thrd_detach(c);
    thrd_join(a, &ra);
    thrd_join(b, &rb);
    while (!atomic_load(&detached_done))
        thrd_yield();
    assert(ra == 1 && rb == 2 && flushed == 3);
    return 0;
}
