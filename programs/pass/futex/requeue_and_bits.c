//@ expect: pass
//@ execs: 300
// FUTEX_REQUEUE, CMP_REQUEUE, WAKE_OP and bit sets, each with waiters that only the right call wakes.
#define _GNU_SOURCE
#include <assert.h>
#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static atomic_uint gate, hall, word, seen;
static atomic_int woken;

static long futex(atomic_uint *at, int op, unsigned value, uintptr_t more, atomic_uint *other, unsigned last)
{
    return syscall(SYS_futex, at, op, value, more, other, last);
}

static void *at_gate(void *arg)
{
    (void)arg;
    while (atomic_load(&gate) == 0)
        if (futex(&gate, FUTEX_WAIT_PRIVATE, 0, 0, NULL, 0) == 0)
            break;
    atomic_fetch_add(&woken, 1);
    return NULL;
}

static void *with_bit(void *arg)
{
    unsigned bit = (unsigned)(uintptr_t)arg;
    while (!(atomic_load(&word) & bit))
        futex(&word, FUTEX_WAIT_BITSET_PRIVATE, atomic_load(&word) & ~bit, 0, NULL, bit);
    atomic_fetch_or(&seen, bit);
    return NULL;
}

int main(void)
{
    pthread_t threads[4];
    errno = 0;
    assert(futex(&gate, FUTEX_WAIT_PRIVATE, 7, 0, NULL, 0) == -1 && errno == EAGAIN);
    assert(futex(&gate, FUTEX_WAIT_BITSET_PRIVATE, 0, 0, NULL, 0) == -1 && errno == EINVAL);
    struct timespec bad = {0, 1000000000}, brief = {0, 1000};
    assert(futex(&gate, FUTEX_WAIT_PRIVATE, 0, (uintptr_t)&bad, NULL, 0) == -1 && errno == EINVAL);
    assert(futex(&gate, FUTEX_WAIT_PRIVATE, 0, (uintptr_t)&brief, NULL, 0) == -1 && errno == ETIMEDOUT);
    clock_gettime(CLOCK_REALTIME, &brief);
    assert(futex(&gate, FUTEX_WAIT_BITSET_PRIVATE | FUTEX_CLOCK_REALTIME, 0, (uintptr_t)&brief, NULL, 1) == -1 && errno == ETIMEDOUT);
    for (int i = 0; i < 3; i++)
        pthread_create(&threads[i], NULL, at_gate, NULL);
    long moved = 0;
    while (moved < 2) // none is woken, two move to the hall
        sched_yield(), moved += futex(&gate, FUTEX_REQUEUE_PRIVATE, 0, 2 - moved, &hall, 0);
    assert(moved == 2 && atomic_load(&woken) == 0);
    assert(futex(&gate, FUTEX_CMP_REQUEUE_PRIVATE, 1, INT_MAX, &hall, 5) == -1 && errno == EAGAIN);
    while (futex(&gate, FUTEX_CMP_REQUEUE_PRIVATE, 0, 1, &hall, 0) == 0)
        sched_yield();
    assert(futex(&gate, FUTEX_WAKE_PRIVATE, INT_MAX, 0, NULL, 0) == 0);
    // hall was 0: set it to 9, wake one there by the comparison and nobody at the gate
    long n = futex(&gate, FUTEX_WAKE_OP_PRIVATE, 1, 1, &hall, FUTEX_OP(FUTEX_OP_SET, 9, FUTEX_OP_CMP_EQ, 0));
    assert(n == 1 && atomic_load(&hall) == 9);
    n = futex(&hall, FUTEX_WAKE_OP_PRIVATE, 1, 1, &hall, FUTEX_OP(FUTEX_OP_ADD, 1, FUTEX_OP_CMP_EQ, 0));
    assert(n == 1 && atomic_load(&hall) == 10);
    assert(futex(&hall, FUTEX_WAKE_PRIVATE, INT_MAX, 0, NULL, 0) == 1);
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], NULL);
    assert(atomic_load(&woken) == 3);
    pthread_create(&threads[0], NULL, with_bit, (void *)1);
    pthread_create(&threads[1], NULL, with_bit, (void *)2);
    atomic_fetch_or(&word, 2);
    futex(&word, FUTEX_WAKE_BITSET_PRIVATE, INT_MAX, 0, NULL, 2);
    pthread_join(threads[1], NULL);
    atomic_fetch_or(&word, 1);
    futex(&word, FUTEX_WAKE_BITSET_PRIVATE, INT_MAX, 0, NULL, 1);
    pthread_join(threads[0], NULL);
    assert(atomic_load(&seen) == 3);
    return 0;
}
