//@ expect: deadlock
//@ execs: 500
//@ cause: if (atomic_load(&ready) == 0) | atomic_store(&ready, 1); | FUTEX_WAIT_PRIVATE
//@ says: ready T1 T2
// The waiter passes the word's current value to FUTEX_WAIT instead of the one it tested: the wake is lost.
#define _GNU_SOURCE
#include <linux/futex.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <unistd.h>

static atomic_int ready;

static void *waiter(void *arg)
{
    (void)arg;
    if (atomic_load(&ready) == 0)
        syscall(SYS_futex, &ready, FUTEX_WAIT_PRIVATE, atomic_load(&ready), NULL, NULL, 0);
    return NULL;
}

static void *waker(void *arg)
{
    (void)arg;
    atomic_store(&ready, 1);
    syscall(SYS_futex, &ready, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
    return NULL;
}

int main(void)
{
    pthread_t a, b;
    pthread_create(&a, NULL, waiter, NULL);
    pthread_create(&b, NULL, waker, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return 0;
}
