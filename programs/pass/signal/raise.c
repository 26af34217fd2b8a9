//@ expect: pass
//@ execs: 200
// raise() runs the handler in the calling thread, before it returns.
#include <assert.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>

static __thread volatile sig_atomic_t mine;
static atomic_int total;

static void handler(int sig)
{
    assert(sig == SIGUSR1);
    mine++;
    atomic_fetch_add(&total, 1);
}

static void *worker(void *arg)
{
    (void)arg;
    for (int i = 1; i <= 2; i++) {
        raise(SIGUSR1);
        assert(mine == i);
    }
    return NULL;
}

int main(void)
{
    struct sigaction act = {0};
    act.sa_handler = handler;
    sigaction(SIGUSR1, &act, NULL);
    pthread_t a, b;
    pthread_create(&a, NULL, worker, NULL);
    pthread_create(&b, NULL, worker, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    assert(total == 4 && mine == 0);
    return 0;
}
