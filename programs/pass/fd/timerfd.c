//@ expect: pass
//@ execs: 50
// A timerfd read blocks until the timer has gone off; another thread works meanwhile.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <sys/timerfd.h>
#include <unistd.h>

static atomic_int ticks;

static void *clock_(void *arg)
{
    (void)arg;
    int fd = timerfd_create(CLOCK_MONOTONIC, 0);
    struct itimerspec every = {{0, 1000 * 1000}, {0, 1000 * 1000}};
    assert(fd >= 0 && timerfd_settime(fd, 0, &every, NULL) == 0);
    for (uint64_t gone = 0; gone < 3;) {
        uint64_t n;
        assert(read(fd, &n, sizeof n) == sizeof n && n >= 1);
        gone += n;
        atomic_fetch_add(&ticks, (int)n);
    }
    close(fd);
    return NULL;
}

static void *worker(void *arg)
{
    (void)arg;
    for (int i = 0; i < 4; i++)
        assert(atomic_load(&ticks) >= 0);
    return NULL;
}

int main(void)
{
    pthread_t a, b;
    pthread_create(&a, NULL, clock_, NULL);
    pthread_create(&b, NULL, worker, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    assert(ticks >= 3);
    return 0;
}
