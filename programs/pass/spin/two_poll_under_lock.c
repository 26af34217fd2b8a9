//@ expect: pass
//@ execs: 100
// Two threads poll under a lock and wake each other; the third, which ends both, must be scheduled, too. Each
// poller counts its rounds where the other sees it.
#include <pthread.h>
#include <stdatomic.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int ready;
static atomic_int rounds[2];

static void *poll_it(void *arg)
{
    for (int is_ready = 0; !is_ready;) {
        pthread_mutex_lock(&lock);
        is_ready = ready;
        pthread_mutex_unlock(&lock);
        atomic_fetch_add((atomic_int *)arg, 1);
    }
    return NULL;
}

static void *set(void *arg)
{
    for (int i = 0; i < 20; i++) {
        pthread_mutex_lock(&lock);
        ready = i == 19;
        pthread_mutex_unlock(&lock);
    }
    return arg;
}

int main(void)
{
    pthread_t threads[3];
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, poll_it, &rounds[i]);
    pthread_create(&threads[2], NULL, set, NULL);
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], NULL);
    return 0;
}
