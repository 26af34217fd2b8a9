//@ expect: assert
//@ execs: 1000
//@ cause: assert(n_done == | n_done++;
// Workers report finished pieces of work; the manager hands in the account when it believes that all are
// done, but a worker counts a piece before it has done it.
#include <assert.h>
#include <pthread.h>

#ifndef WORKERS
#define WORKERS 2
#define PIECES 2
#endif
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t all_done = PTHREAD_COND_INITIALIZER;
static int n_left = WORKERS * PIECES, n_done;

static void *work(void *arg)
{
    for (int i = 0; i < PIECES; i++) {
        pthread_mutex_lock(&lock);
        if (--n_left == 0)
            pthread_cond_signal(&all_done);
        pthread_mutex_unlock(&lock);

        pthread_mutex_lock(&lock);
        n_done++;
        pthread_mutex_unlock(&lock);
    }
    return arg;
}

static void *manage(void *arg)
{
    pthread_mutex_lock(&lock);
    while (n_left > 0)
        pthread_cond_wait(&all_done, &lock);
    assert(n_done == WORKERS * PIECES);
    pthread_mutex_unlock(&lock);
    return arg;
}

int main(void)
{
    pthread_t t[WORKERS + 1];
    for (int i = 0; i <= WORKERS; i++)
        pthread_create(&t[i], NULL, i == 0 ? manage : work, NULL);
    for (int i = 0; i <= WORKERS; i++)
        pthread_join(t[i], NULL);
    return 0;
}
