//@ expect: pass
//@ execs: 100
// Shutdown by signal: one thread waits for SIGTERM and SIGHUP in sigwait, workers wait on a condition
// variable; a reload and then a stop are sent by the program itself. A handler of SIGUSR1 counts in a
// worker.
#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int generation, n_work, n_done;
static bool is_stopped;
static _Atomic int n_handled;

static void handle(int signal)
{
    int kept = errno;
    assert(signal == SIGUSR1);
    n_handled++;
    errno = kept;
}

static void *watch(void *arg)
{
    sigset_t *set = arg;
    for (;;) {
        int signal = 0;
        assert(sigwait(set, &signal) == 0);
        pthread_mutex_lock(&lock);
        if (signal == SIGHUP)
            generation++;
        else
            is_stopped = true;
        bool is_over = is_stopped;
        pthread_cond_broadcast(&changed);
        pthread_mutex_unlock(&lock);
        if (is_over)
            return NULL;
        assert(signal == SIGHUP);
    }
}

static void *work(void *arg)
{
    int seen = 0;
    (void)arg;
    pthread_mutex_lock(&lock);
    for (;;) {
        while (!is_stopped && n_work == 0 && seen == generation)
            pthread_cond_wait(&changed, &lock);
        if (seen != generation) {
            seen = generation;
            continue;
        }
        if (n_work > 0) {
            n_work--;
            pthread_mutex_unlock(&lock);
            sched_yield();
            pthread_mutex_lock(&lock);
            n_done++;
            pthread_cond_broadcast(&changed);
            continue;
        }
        if (is_stopped)
            break;
    }
    pthread_mutex_unlock(&lock);
    return NULL;
}

int main(void)
{
    pthread_t watcher, workers[2];
    struct sigaction action = { .sa_handler = handle, .sa_flags = SA_RESTART };
    sigset_t set;
    assert(sigaction(SIGUSR1, &action, NULL) == 0);
    sigemptyset(&set);
    sigaddset(&set, SIGTERM);
    sigaddset(&set, SIGHUP);
    assert(pthread_sigmask(SIG_BLOCK, &set, NULL) == 0);
    assert(pthread_create(&watcher, NULL, watch, &set) == 0);
    for (int i = 0; i < 2; i++)
        assert(pthread_create(&workers[i], NULL, work, NULL) == 0);
    pthread_mutex_lock(&lock);
    n_work = 3;
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&lock);
    assert(kill(getpid(), SIGHUP) == 0);
    assert(pthread_kill(workers[1], SIGUSR1) == 0);
    pthread_mutex_lock(&lock);
    while (n_done < 3 || generation == 0)
        pthread_cond_wait(&changed, &lock);
    pthread_mutex_unlock(&lock);
    assert(kill(getpid(), SIGTERM) == 0);
    pthread_join(watcher, NULL);
    for (int i = 0; i < 2; i++)
        pthread_join(workers[i], NULL);
    assert(n_done == 3 && generation == 1 && is_stopped);
    assert(n_handled == 1);
    return 0;
}
