//@ expect: deadlock
//@ execs: 1000
//@ cause: FUTEX_WAIT_PRIVATE | if (atomic_exchange(&word, 0) == 2)
//@ says: word T1 T2 T3
// A futex mutex whose woken waiter takes the lock as "uncontended": the next waiter is never woken.
#define _GNU_SOURCE
#include <linux/futex.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <unistd.h>

static atomic_int word; // 0 free, 1 held, 2 held and awaited

static void lock(void)
{
    int seen = 0;
    while (!atomic_compare_exchange_strong(&word, &seen, 1)) {
        int held = 1;
        atomic_compare_exchange_strong(&word, &held, 2);
        syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, 2, NULL, NULL, 0);
        seen = 0;
    }
}

static void unlock(void)
{
    if (atomic_exchange(&word, 0) == 2)
        syscall(SYS_futex, &word, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
}

static void *worker(void *arg)
{
    (void)arg;
    lock();
    unlock();
    return NULL;
}

int main(void)
{
    pthread_t t[3];
    for (int i = 0; i < 3; i++)
        pthread_create(&t[i], NULL, worker, NULL);
    for (int i = 0; i < 3; i++)
        pthread_join(t[i], NULL);
    return 0;
}
