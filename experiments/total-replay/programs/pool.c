// Experiment 1: an object pool (the structure of Apache Commons Pool in the dissertation, Figure 67).
//
// `reaper` replaces the factory without the lock; `borrower` uses it under the lock, but only if nothing is
// active. Whether something is active is decided by `returner`. In the first execution nothing races on the
// factory; it does when the borrower's branch goes the other way.
#include <pthread.h>
#include <stdio.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int n_active, n_idle = 3, factory = 1, made, pool[4], n_served;

static void *returner(void *arg) {
    pthread_mutex_lock(&lock);
    n_active = n_active + 1;
    pool[0] = n_idle;
    n_served++;
    pthread_mutex_unlock(&lock);
    return arg;
}

static void *borrower(void *arg) {
    pthread_mutex_lock(&lock);
    n_served++;
    pool[2] = pool[0] + pool[1];
    if (n_active > 0)
        made = factory;
    pthread_mutex_unlock(&lock);
    pthread_mutex_lock(&lock);
    n_idle = n_idle + 1;
    pthread_mutex_unlock(&lock);
    return arg;
}

static void *reaper(void *arg) {
    pthread_mutex_lock(&lock);
    n_served++;
    pool[1] = 0;
    n_idle = 2;
    pthread_mutex_unlock(&lock);
    factory = 2;
    return arg;
}

int main(void) {
    pthread_t threads[3];
    pthread_create(&threads[0], 0, borrower, 0);
    pthread_create(&threads[1], 0, reaper, 0);
    pthread_create(&threads[2], 0, returner, 0);
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], 0);
    printf("made %d\n", made);
    return 0;
}
