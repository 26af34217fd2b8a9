//@ expect: deadlock
//@ execs: 500
//@ cause: pthread_mutex_lock(&lock); | pthread_kill(
//@ says: lock T1
// The handler takes a mutex that the interrupted thread may be holding.
#include <pthread.h>
#include <signal.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int events;

static void note(int sig)
{
    (void)sig;
    pthread_mutex_lock(&lock);
    events++;
    pthread_mutex_unlock(&lock);
}

static void *worker(void *arg)
{
    (void)arg;
    for (int i = 0; i < 3; i++)
        note(0);
    return NULL;
}

static void *poker(void *arg)
{
    pthread_kill(*(pthread_t *)arg, SIGUSR1);
    return NULL;
}

int main(void)
{
    struct sigaction act = {0};
    static pthread_t w, p;
    act.sa_handler = note;
    sigaction(SIGUSR1, &act, NULL);
    pthread_create(&w, NULL, worker, NULL);
    pthread_create(&p, NULL, poker, &w);
    pthread_join(p, NULL); // first: the worker may have ended, but is not joined yet
    pthread_join(w, NULL);
    return 0;
}
