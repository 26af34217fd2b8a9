//@ expect: pass
//@ execs: 200
// pthread_exit runs the clean-up handlers last to first, then key destructors; a blocked read is cancelled.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <unistd.h>

static pthread_key_t key;
static int ends[2];
static _Thread_local int trail;
static atomic_int trails;

static void mark(void *digit)
{
    trail = trail * 10 + (int)(intptr_t)digit;
}

static void last(void *digit)
{
    mark(digit);
    atomic_fetch_add(&trails, trail);
}

static void *worker(void *arg)
{
    char c;
    pthread_setspecific(key, (void *)(intptr_t)3);
    pthread_cleanup_push(mark, (void *)(intptr_t)2);
    pthread_cleanup_push(mark, (void *)(intptr_t)1);
    if (arg)
        pthread_exit(arg);
    while (read(ends[0], &c, 1) != 1) // nothing ever comes
        ;
    pthread_cleanup_pop(0);
    pthread_cleanup_pop(0);
    return NULL;
}

int main(void)
{
    pthread_t a, b;
    void *ra, *rb;
    assert(pipe(ends) == 0 && pthread_key_create(&key, last) == 0);
    pthread_create(&a, NULL, worker, &ends);
    pthread_create(&b, NULL, worker, NULL);
    pthread_cancel(b);
    pthread_join(a, &ra);
    pthread_join(b, &rb);
    assert(ra == &ends && rb == PTHREAD_CANCELED);
    assert(trails == 123 * 2);
    return 0;
}
