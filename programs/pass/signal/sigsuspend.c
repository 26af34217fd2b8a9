//@ expect: pass
//@ execs: 200
// A blocked signal stays pending until sigsuspend opens the mask: no wake-up is lost.
#include <assert.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>

static volatile sig_atomic_t bell;
static atomic_int prepared;

static void handler(int sig)
{
    (void)sig;
    bell = 1;
}

static void *ringer(void *arg)
{
    atomic_store(&prepared, 1);
    assert(pthread_kill(*(pthread_t *)arg, SIGUSR1) == 0);
    return NULL;
}

int main(void)
{
    sigset_t blocked, before;
    struct sigaction act = {0};
    pthread_t t, self = pthread_self();
    act.sa_handler = handler;
    sigaction(SIGUSR1, &act, NULL);
    sigemptyset(&blocked);
    sigaddset(&blocked, SIGUSR1);
    pthread_sigmask(SIG_BLOCK, &blocked, &before);
    pthread_create(&t, NULL, ringer, &self);
    assert(!bell);
    while (!bell)
        sigsuspend(&before);
    assert(prepared);
    pthread_join(t, NULL);
    return 0;
}
