//@ expect: assert
//@ execs: 1000
//@ cause: while (n_left > 0) { | n_left = n_left - 1;
//@ says: n_left T1 T2
// Workers take pieces of work until none is left, and the manager checks the account when all have gone home. "Is one
// left?" and "one fewer" are not one step: two workers take the same piece.
#include <assert.h>
#include <pthread.h>

#ifndef WORKERS
#define WORKERS 2
#define PIECES 2
#endif
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static volatile int n_left = WORKERS * PIECES;
static int n_done;

static void *work(void *arg)
{
    while (n_left > 0) {
        n_left = n_left - 1;
        pthread_mutex_lock(&lock);
        n_done++;
        pthread_mutex_unlock(&lock);
    }
    return arg;
}

int main(void)
{
    pthread_t t[WORKERS];
    for (int i = 0; i < WORKERS; i++)
        pthread_create(&t[i], NULL, work, NULL);
    for (int i = 0; i < WORKERS; i++)
        pthread_join(t[i], NULL);
    assert(n_done == WORKERS * PIECES);
    return 0;
}
