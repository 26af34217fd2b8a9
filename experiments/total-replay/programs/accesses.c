// Figures 69 and 93: the pool of Experiment 1 with more accesses. Three threads make n accesses each to one variable
// under a lock; of one thread so many of them decide a branch behind which another object is used, which a third thread
// uses without the lock; the others are only kept. Arguments: accesses of each thread, and how many of the last one's decide.
#include <pthread.h>
#include <stdlib.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int n_accesses, n_deciding, total, factory, made, last_seen;

static void *count(void *arg)
{
    for (int i = 0; i < n_accesses; i++) {
        pthread_mutex_lock(&lock);
        total = i + 1;
        pthread_mutex_unlock(&lock);
    }
    return arg;
}

static void *replace(void *arg)
{
    factory = 2;
    return count(arg);
}

static void decide(void)
{
    pthread_mutex_lock(&lock);
    if (total == n_accesses)
        made = factory;
    pthread_mutex_unlock(&lock);
}

static void keep(void)
{
    pthread_mutex_lock(&lock);
    last_seen = total;
    pthread_mutex_unlock(&lock);
}

static void *use(void *arg)
{
    for (int i = 0; i < n_accesses; i++)
        if (i < n_deciding)
            decide();
        else
            keep();
    return arg;
}

int main(int argc, char **argv)
{
    n_accesses = argc > 1 ? atoi(argv[1]) : 1;
    n_deciding = argc > 2 ? atoi(argv[2]) : 1;
    void *(*const bodies[])(void *) = {use, replace, count};
    pthread_t threads[3];
    for (int i = 0; i < 3; i++)
        pthread_create(&threads[i], NULL, bodies[i], NULL);
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], NULL);
    return 0;
}
