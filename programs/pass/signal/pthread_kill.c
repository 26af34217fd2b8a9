//@ expect: pass
//@ execs: 200
// pthread_kill interrupts exactly the thread it names.
#include <assert.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>

static _Thread_local volatile sig_atomic_t poked;
static atomic_int handled, work;

static void handler(int sig)
{
    (void)sig;
    poked = 1;
    atomic_fetch_add(&handled, 1);
}

static void *target(void *arg)
{
    (void)arg;
    while (!poked) {
        atomic_fetch_add(&work, 1);
        sched_yield();
    }
    return NULL;
}

int main(void)
{
    struct sigaction act = {0};
    act.sa_handler = handler;
    act.sa_flags = SA_RESTART;
    sigaction(SIGUSR1, &act, NULL);
    pthread_t t[2];
    for (int i = 0; i < 2; i++)
        pthread_create(&t[i], NULL, target, NULL);
    for (int i = 0; i < 2; i++)
        assert(pthread_kill(t[i], SIGUSR1) == 0);
    for (int i = 0; i < 2; i++)
        pthread_join(t[i], NULL);
    assert(handled == 2 && !poked);
    return 0;
}
