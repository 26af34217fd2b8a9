//@ expect: pass
//@ execs: 200
// A three-state mutex over the raw futex call: 0 free, 1 held, 2 held and perhaps awaited.
#define _GNU_SOURCE
#include <assert.h>
#include <linux/futex.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <unistd.h>

static atomic_int word;
static int counter;

static void lock(void)
{
    int seen = 0;
    if (atomic_compare_exchange_strong(&word, &seen, 1))
        return;
    while (atomic_exchange(&word, 2) != 0)
        syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, 2, NULL, NULL, 0);
}

static void unlock(void)
{
    if (atomic_exchange(&word, 0) == 2)
        syscall(SYS_futex, &word, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
}

static void *worker(void *arg)
{
    (void)arg;
    for (int i = 0; i < 3; i++) {
        lock();
        counter++;
        unlock();
    }
    return NULL;
}

int main(void)
{
    pthread_t t[3];
    for (int i = 0; i < 3; i++)
        pthread_create(&t[i], NULL, worker, NULL);
    for (int i = 0; i < 3; i++)
        pthread_join(t[i], NULL);
    assert(counter == 9);
    return 0;
}
