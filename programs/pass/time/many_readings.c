//@ expect: pass
//@ execs: 60
// Two workers read the clock 4,000 times in all, with locks in between; a watchdog would abort after a minute. On
// any machine the work is done in milliseconds.
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>
#include <time.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t done = PTHREAD_COND_INITIALIZER;
static int n_done;

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec + t.tv_nsec / 1e9;
}

static void *worker(void *arg)
{
    (void)arg;
    double start = now();
    for (int i = 0; i < 2000; i++) {
        pthread_mutex_lock(&lock);
        double took = now() - start;
        pthread_mutex_unlock(&lock);
        assert(took < 60);
    }
    pthread_mutex_lock(&lock);
    n_done++;
    pthread_cond_signal(&done);
    pthread_mutex_unlock(&lock);
    return NULL;
}

int main(void)
{
    pthread_t t[2];
    double start = now();
    for (int i = 0; i < 2; i++)
        pthread_create(&t[i], NULL, worker, NULL);
    pthread_mutex_lock(&lock);
    while (n_done < 2)
        pthread_cond_wait(&done, &lock);
    pthread_mutex_unlock(&lock);
    for (int i = 0; i < 2; i++)
        pthread_join(t[i], NULL);
    if (now() - start > 60)
        abort();
    return 0;
}
