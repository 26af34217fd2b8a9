//@ expect: pass
//@ execs: 200
// A one-shot event: FUTEX_WAIT with a relative timeout, retried; EAGAIN, EINTR and ETIMEDOUT are all fine.
#define _GNU_SOURCE
#include <assert.h>
#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static atomic_uint fired;
static int news;

static void *waiter(void *arg)
{
    (void)arg;
    struct timespec brief = {0, 2 * 1000 * 1000};
    while (!atomic_load(&fired))
        if (syscall(SYS_futex, &fired, FUTEX_WAIT_PRIVATE, 0, &brief, NULL, 0) != 0)
            assert(errno == EAGAIN || errno == ETIMEDOUT || errno == EINTR);
    assert(news == 1);
    return NULL;
}

int main(void)
{
    pthread_t t[2];
    for (int i = 0; i < 2; i++)
        pthread_create(&t[i], NULL, waiter, NULL);
    news = 1;
    atomic_store(&fired, 1);
    long woken = syscall(SYS_futex, &fired, FUTEX_WAKE_PRIVATE, INT_MAX, NULL, NULL, 0);
    assert(woken >= 0 && woken <= 2);
    for (int i = 0; i < 2; i++)
        pthread_join(t[i], NULL);
    return 0;
}
