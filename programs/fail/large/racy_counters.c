//@ expect: assert
//@ execs: 4000
//@ cause: int n = monitor.n_free; | monitor.n_free--;
//@ says: monitor.n_free T1 T2
// A pool of buffers behind a monitor, and fifteen debug counters that nobody guards and nobody reads. All races are those
// of the counters; the bug is that the monitor is left between the question and the taking.
#include <assert.h>
#include <pthread.h>
#include <stddef.h>

enum { USERS = 4, ROUNDS = 2, BUFFERS = 3 };

static long n_calls, n_asked, n_taken, n_given, n_skipped, n_bytes, n_small, n_large, n_even, n_odd, n_first, n_last,
    n_filled, n_empty, n_rounds;

static struct {
    pthread_mutex_t lock;
    pthread_cond_t freed;
    int n_free;
    int n_in_use;
} monitor = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, BUFFERS, 0};

static void note_size(int size)
{
    n_bytes += size;
    if (size < 8)
        n_small++;
    else
        n_large++;
    if (size % 2)
        n_odd++;
    else
        n_even++;
}

static int monitor_n_free(void)
{
    n_asked++;
    pthread_mutex_lock(&monitor.lock);
    int n = monitor.n_free;
    pthread_mutex_unlock(&monitor.lock);
    return n;
}

static void monitor_take(void)
{
    pthread_mutex_lock(&monitor.lock);
    monitor.n_free--;
    monitor.n_in_use++;
    assert(monitor.n_free >= 0);
    pthread_mutex_unlock(&monitor.lock);
    n_taken++;
}

static void monitor_give(void)
{
    pthread_mutex_lock(&monitor.lock);
    monitor.n_free++;
    monitor.n_in_use--;
    pthread_cond_signal(&monitor.freed);
    pthread_mutex_unlock(&monitor.lock);
    n_given++;
}

static void *use(void *arg)
{
    int size = *(int *)arg;
    for (int i = 0; i < ROUNDS; i++) {
        n_calls++;
        n_rounds++;
        if (i == 0)
            n_first++;
        if (i == ROUNDS - 1)
            n_last++;
        note_size(size + i);
        if (size + i == 12)
            n_filled++;
        int n_free = monitor_n_free();
        if (n_free < 1) {
            n_skipped++;
            n_empty++;
            continue;
        }
        monitor_take();
        monitor_give();
        note_size(size - i);
        note_size(size + 2 * i);
    }
    return NULL;
}

int main(void)
{
    pthread_t threads[USERS];
    int sizes[USERS] = {3, 6, 9, 12};
    for (int i = 0; i < USERS; i++)
        pthread_create(&threads[i], NULL, use, &sizes[i]);
    for (int i = 0; i < USERS; i++)
        pthread_join(threads[i], NULL);
    assert(monitor.n_in_use == 0);
    return 0;
}
