//@ expect: pass
//@ execs: 200
// Timed waits that no thread ends: each returns at its deadline, not earlier, with a timeout.
#define _GNU_SOURCE
#include <assert.h>
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>

enum { LENGTH_MS = 10 };
static pthread_t sleeper;
static sem_t sem;
static mtx_t held, own;
static cnd_t cond;
static int ends[2];

static long now_us(clockid_t clock)
{
    struct timespec now;
    clock_gettime(clock, &now);
    return now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

static struct timespec soon(clockid_t clock)
{
    long us = now_us(clock) + LENGTH_MS * 1000;
    return (struct timespec){us / 1000000, us % 1000000 * 1000};
}

static int by_join(void)
{
    struct timespec until = soon(CLOCK_REALTIME);
    return pthread_timedjoin_np(sleeper, NULL, &until) == ETIMEDOUT;
}

static int by_clock_join(void)
{
    struct timespec until = soon(CLOCK_MONOTONIC);
    return pthread_clockjoin_np(sleeper, NULL, CLOCK_MONOTONIC, &until) == ETIMEDOUT;
}

static int by_mutex(void)
{
    struct timespec until = soon(CLOCK_REALTIME);
    return mtx_timedlock(&held, &until) == thrd_timedout;
}

static int by_condition(void)
{
    struct timespec until = soon(CLOCK_REALTIME);
    mtx_lock(&own);
    int result = cnd_timedwait(&cond, &own, &until);
    mtx_unlock(&own);
    return result == thrd_timedout;
}

static int by_semaphore(void)
{
    struct timespec until = soon(CLOCK_MONOTONIC);
    return sem_clockwait(&sem, CLOCK_MONOTONIC, &until) == -1 && errno == ETIMEDOUT;
}

static int by_signal(void)
{
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
    struct timespec length = {0, LENGTH_MS * 1000000};
    return sigtimedwait(&set, NULL, &length) == -1 && errno == EAGAIN;
}

static int by_poll(void)
{
    struct pollfd end = {.fd = ends[0], .events = POLLIN};
    return poll(&end, 1, LENGTH_MS) == 0;
}

static int by_select(void)
{
    fd_set set;
    FD_ZERO(&set);
    FD_SET(ends[0], &set);
    struct timeval length = {0, LENGTH_MS * 1000};
    return select(ends[0] + 1, &set, NULL, NULL, &length) == 0;
}

static int by_epoll(void)
{
    int set = epoll_create1(0);
    struct epoll_event event = {.events = EPOLLIN};
    epoll_ctl(set, EPOLL_CTL_ADD, ends[0], &event);
    int n_ready = epoll_wait(set, &event, 1, LENGTH_MS);
    close(set);
    return n_ready == 0;
}

static void *sleep_long(void *arg)
{
    mtx_lock(&held);
    sem_post(&sem);
    for (;;)
        sleep(3600);
    return arg;
}

int main(void)
{
    static int (*const waits[])(void) = {by_join, by_clock_join, by_mutex, by_condition, by_semaphore,
                                         by_signal, by_poll, by_select, by_epoll};
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
    pthread_sigmask(SIG_BLOCK, &set, NULL);
    mtx_init(&held, mtx_timed);
    mtx_init(&own, mtx_plain);
    cnd_init(&cond);
    sem_init(&sem, 0, 0);
    assert(pipe(ends) == 0);
    pthread_create(&sleeper, NULL, sleep_long, NULL);
    sem_wait(&sem);
    for (unsigned i = 0; i < sizeof waits / sizeof *waits; i++) {
        long start = now_us(CLOCK_MONOTONIC);
        assert(waits[i]());
        assert(now_us(CLOCK_MONOTONIC) - start >= LENGTH_MS * 1000);
    }
    return 0;
}
