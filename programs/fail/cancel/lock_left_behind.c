//@ expect: deadlock
//@ execs: 500
//@ cause: pthread_cond_wait( | pthread_cancel(
//@ says: lock T1 T2
// A thread cancelled in a condition wait without a clean-up handler takes the mutex into its grave.
#include <pthread.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static pthread_t waiter_thread;
static int ready;

static void *waiter(void *arg)
{
    (void)arg;
    pthread_mutex_lock(&lock);
    while (!ready)
        pthread_cond_wait(&changed, &lock);
    pthread_mutex_unlock(&lock);
    return NULL;
}

static void *setter(void *arg)
{
    (void)arg;
    pthread_mutex_lock(&lock);
    ready = 1;
    pthread_cond_signal(&changed);
    pthread_mutex_unlock(&lock);
    return NULL;
}

static void *canceller(void *arg)
{
    (void)arg;
    pthread_cancel(waiter_thread);
    return NULL;
}

int main(void)
{
    pthread_t s, c;
    pthread_create(&s, NULL, setter, NULL);
    pthread_create(&waiter_thread, NULL, waiter, NULL);
    pthread_create(&c, NULL, canceller, NULL);
    pthread_join(s, NULL);
    pthread_join(c, NULL);
    pthread_join(waiter_thread, NULL);
    return 0;
}
