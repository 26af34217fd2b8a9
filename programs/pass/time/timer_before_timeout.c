//@ expect: pass
//@ execs: 300
// Of a timer and a timeout the earlier comes first, also while another thread is held up for longer than both.
#include <assert.h>
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/time.h>
#include <sys/timerfd.h>
#include <unistd.h>

static void nothing(int signal)
{
    (void)signal;
}

static void *busy(void *arg)
{
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, NULL);
    for (int i = 0; i < 8; i++)
        sched_yield();
    return arg;
}

int main(void)
{
    struct sigaction action = { .sa_handler = nothing };
    sigaction(SIGALRM, &action, NULL);
    sigset_t alarms;
    sigemptyset(&alarms);
    sigaddset(&alarms, SIGALRM);
    pthread_sigmask(SIG_BLOCK, &alarms, NULL); // the other thread must not be the one to be interrupted
    pthread_t thread;
    pthread_create(&thread, NULL, busy, NULL);
    pthread_sigmask(SIG_UNBLOCK, &alarms, NULL);

    struct itimerval soon = { .it_value = { 1, 0 } };
    setitimer(ITIMER_REAL, &soon, NULL);
    assert(poll(NULL, 0, 60000) == -1 && errno == EINTR);

    int fd = timerfd_create(CLOCK_MONOTONIC, 0);
    struct itimerspec spec = { .it_value = { 2, 0 } };
    timerfd_settime(fd, 0, &spec, NULL);
    struct pollfd poll_fd = { .fd = fd, .events = POLLIN };
    assert(poll(&poll_fd, 1, 60000) == 1);

    alarm(60);
    assert(poll(NULL, 0, 1000) == 0);
    assert(alarm(0) == 59);
    pthread_join(thread, NULL);
    close(fd);
    return 0;
}
