//@ expect: deadlock
//@ execs: 500
//@ cause: if (!atomic_load(&rung)) | pthread_kill( | pause();
//@ says: T1
// The classic race of "if not yet, pause": the signal comes after the test and before the sleep.
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <unistd.h>

static atomic_int rung;

static void handler(int sig)
{
    (void)sig;
    atomic_store(&rung, 1);
}

static void *sleeper(void *arg)
{
    (void)arg;
    if (!atomic_load(&rung))
        pause();
    return NULL;
}

static void *ringer(void *arg)
{
    pthread_kill(*(pthread_t *)arg, SIGUSR1);
    return NULL;
}

int main(void)
{
    struct sigaction act = {0};
    static pthread_t s, r;
    act.sa_handler = handler;
    sigaction(SIGUSR1, &act, NULL);
    pthread_create(&s, NULL, sleeper, NULL);
    pthread_create(&r, NULL, ringer, &s);
    pthread_join(r, NULL);
    pthread_join(s, NULL);
    return 0;
}
