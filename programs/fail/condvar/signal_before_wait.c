//@ expect: deadlock
//@ execs: 500
//@ cause: pthread_cond_signal(&go); | pthread_cond_wait(
//@ says: go T1 T2
// A wait without any predicate: a signal that comes first is gone.
#include <pthread.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t go = PTHREAD_COND_INITIALIZER;

static void *runner(void *arg)
{
    (void)arg;
    pthread_mutex_lock(&lock);
    pthread_cond_wait(&go, &lock);
    pthread_mutex_unlock(&lock);
    return NULL;
}

static void *starter(void *arg)
{
    (void)arg;
    pthread_mutex_lock(&lock);
    pthread_cond_signal(&go);
    pthread_mutex_unlock(&lock);
    return NULL;
}

int main(void)
{
    pthread_t a, b;
    pthread_create(&a, NULL, runner, NULL);
    pthread_create(&b, NULL, starter, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return 0;
}
