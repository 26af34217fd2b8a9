//@ expect: deadlock
//@ execs: 1000
//@ cause: if (++arrived == PARTIES) { | while (arrived != 0)
//@ says: all_here T1 T2
// A hand-made barrier without a generation: reused at once, a fast thread re-enters the old round.
#include <pthread.h>

enum { PARTIES = 2 };
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t all_here = PTHREAD_COND_INITIALIZER;
static int arrived;

static void barrier_wait(void)
{
    pthread_mutex_lock(&lock);
    if (++arrived == PARTIES) {
        pthread_cond_broadcast(&all_here);
        arrived = 0;
    } else {
        while (arrived != 0) // a new round may have begun: no generation tells
            pthread_cond_wait(&all_here, &lock);
    }
    pthread_mutex_unlock(&lock);
}

static void *worker(void *arg)
{
    (void)arg;
    for (int round = 0; round < 2; round++)
        barrier_wait();
    return NULL;
}

int main(void)
{
    pthread_t a, b;
    pthread_create(&a, NULL, worker, NULL);
    pthread_create(&b, NULL, worker, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return 0;
}
