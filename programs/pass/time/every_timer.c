//@ expect: pass
//@ execs: 100
// Deadlines of all kinds pass in the order of their times, each at its time, when no thread is enabled.
#include <assert.h>
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/time.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

#define MS 1000000L

static sem_t never;
static long started;

static long now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * 1000 * MS + time.tv_nsec;
}

/// It is `ms` since the start, and little more.
static void at(long ms)
{
    long since = now() - started;
    assert(since >= ms * MS && since < (ms + 1) * MS);
}

static void nothing(int signal)
{
    (void)signal;
}

static void *waits(void *arg)
{
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, NULL);
    sem_wait(&never); // there is another thread, which can't go on
    return arg;
}

int main(void)
{
    pthread_t thread;
    sem_init(&never, 0, 0);
    pthread_create(&thread, NULL, waits, NULL);
    struct sigaction action = { .sa_handler = nothing };
    sigaction(SIGALRM, &action, NULL);
    sigaction(SIGUSR1, &action, NULL);
    int fd = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK);
    struct pollfd poll_fd = { .fd = fd, .events = POLLIN };
    timer_t timer;
    struct sigevent event = { .sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGUSR1 };
    timer_create(CLOCK_MONOTONIC, &event, &timer);

    started = now();
    struct itimerspec first = { .it_value = { 0, 10 * MS } };
    struct itimerspec third = { .it_value = { 0, 30 * MS }, .it_interval = { 0, 20 * MS } };
    struct itimerval second = { .it_value = { 0, 20 * 1000 } };
    timer_settime(timer, 0, &first, NULL);
    setitimer(ITIMER_REAL, &second, NULL);
    timerfd_settime(fd, 0, &third, NULL);

    assert(poll(&poll_fd, 1, 1000) == -1 && errno == EINTR);
    at(10);
    assert(poll(&poll_fd, 1, 1000) == -1 && errno == EINTR);
    at(20);
    assert(poll(&poll_fd, 1, 5) == 0);
    at(25);
    assert(poll(&poll_fd, 1, 1000) == 1);
    at(30);
    uint64_t n;
    assert(read(fd, &n, sizeof n) == sizeof n && n == 1);
    struct timespec nap = { 0, 15 * MS };
    nanosleep(&nap, NULL);
    at(45);
    assert(read(fd, &n, sizeof n) == -1 && errno == EAGAIN);
    nap.tv_nsec = 50 * MS;
    nanosleep(&nap, NULL);
    at(95);
    assert(read(fd, &n, sizeof n) == sizeof n && n == 3); // at 50, 70 and 90
    alarm(1);
    assert(poll(NULL, 0, 5000) == -1 && errno == EINTR);
    at(1095);
    // Who looks at the clock sees every deadline on the way.
    first.it_value.tv_nsec = 7 * MS;
    timer_settime(timer, 0, &first, NULL);
    sigset_t blocked, pending;
    sigemptyset(&blocked);
    sigaddset(&blocked, SIGUSR1);
    pthread_sigmask(SIG_BLOCK, &blocked, NULL);
    long from = now();
    do
        sigpending(&pending);
    while (now() - from < 6 * MS);
    assert(!sigismember(&pending, SIGUSR1));
    while (now() - from < 8 * MS)
        ;
    sigpending(&pending);
    assert(sigismember(&pending, SIGUSR1));
    sem_post(&never);
    pthread_join(thread, NULL);
    timer_delete(timer);
    close(fd);
    return 0;
}
