//@ expect: pass
//@ execs: 50
// A POSIX timer that calls a function in a thread of its own.
#include <assert.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <time.h>

static sem_t done;
static int value;

static void notify(union sigval given)
{
    value = given.sival_int;
    sem_post(&done);
}

int main(void)
{
    timer_t timer;
    struct sigevent event = { .sigev_notify = SIGEV_THREAD, .sigev_notify_function = notify };
    struct itimerspec in = { .it_value = { 0, 1000000 } };
    event.sigev_value.sival_int = 42;
    sem_init(&done, 0, 0);
    assert(timer_create(CLOCK_MONOTONIC, &event, &timer) == 0);
    assert(timer_settime(timer, 0, &in, NULL) == 0);
    sem_wait(&done);
    assert(value == 42);
    timer_delete(timer);
    return 0;
}
