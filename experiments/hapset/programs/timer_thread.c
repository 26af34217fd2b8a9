// A timer thread is told to stop by a flag that it looks at before it takes the lock and sleeps.
// Bug: deadlock (a signal is lost).
#include "noise.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t wake = PTHREAD_COND_INITIALIZER;
static volatile int is_stopping;

static void *run_timers(void *arg)
{
    while (!is_stopping) {
        noise(1);
        pthread_mutex_lock(&lock);
        pthread_cond_wait(&wake, &lock);
        pthread_mutex_unlock(&lock);
    }
    noise(4);
    return arg;
}

static void *shut_down(void *arg)
{
    noise(1);
    is_stopping = 1;
    pthread_mutex_lock(&lock);
    pthread_cond_signal(&wake);
    pthread_mutex_unlock(&lock);
    noise(4);
    return arg;
}

int main(void)
{
    void *(*const bodies[])(void *) = {run_timers, shut_down};
    run_threads(bodies, 2);
    return 0;
}
