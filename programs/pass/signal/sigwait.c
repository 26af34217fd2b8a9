//@ expect: pass
//@ execs: 200
// Signals are blocked everywhere and fetched by one thread with sigwait, sent to the process and to the thread.
#include <assert.h>
#include <pthread.h>
#include <signal.h>
#include <unistd.h>

static sigset_t set;
static int usr1, usr2;

static void *clerk(void *arg)
{
    (void)arg;
    while (usr1 + usr2 < 2) {
        int sig;
        assert(sigwait(&set, &sig) == 0);
        if (sig == SIGUSR1)
            usr1++;
        else if (sig == SIGUSR2)
            usr2++;
    }
    return NULL;
}

static void *sender(void *arg)
{
    (void)arg;
    assert(kill(getpid(), SIGUSR1) == 0);
    return NULL;
}

int main(void)
{
    pthread_t c, s;
    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
    sigaddset(&set, SIGUSR2);
    assert(pthread_sigmask(SIG_BLOCK, &set, NULL) == 0);
    pthread_create(&c, NULL, clerk, NULL);
    pthread_create(&s, NULL, sender, NULL);
    assert(pthread_kill(c, SIGUSR2) == 0);
    pthread_join(c, NULL);
    pthread_join(s, NULL);
    assert(usr1 == 1 && usr2 == 1);
    return 0;
}
