//@ expect: pass
//@ execs: 400
//@ timing: abort
// A watchdog aborts if the workers are not done after a minute. They always are, unless the machine stands still for
// that long: a timing assumption, and no finding.
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <time.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t done = PTHREAD_COND_INITIALIZER;
static int n_left = 2;

static void *worker(void *arg)
{
    (void)arg;
    for (int i = 0; i < 20; i++) {
        pthread_mutex_lock(&lock);
        pthread_mutex_unlock(&lock);
    }
    pthread_mutex_lock(&lock);
    if (--n_left == 0)
        pthread_cond_signal(&done);
    pthread_mutex_unlock(&lock);
    return NULL;
}

int main(void)
{
    pthread_t t[2];
    for (int i = 0; i < 2; i++)
        pthread_create(&t[i], NULL, worker, NULL);
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += 60;
    pthread_mutex_lock(&lock);
    while (n_left > 0)
        if (pthread_cond_timedwait(&done, &lock, &until) == ETIMEDOUT && n_left > 0)
            abort();
    pthread_mutex_unlock(&lock);
    for (int i = 0; i < 2; i++)
        pthread_join(t[i], NULL);
    return 0;
}
