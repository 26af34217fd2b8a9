//@ expect: pass
//@ execs: 200
// An error-checking mutex answers EDEADLK, EPERM and EBUSY instead of hanging.
#include <assert.h>
#include <errno.h>
#include <pthread.h>

static pthread_mutex_t lock;
static int turns;

static void *worker(void *arg)
{
    (void)arg;
    assert(pthread_mutex_unlock(&lock) == EPERM);
    assert(pthread_mutex_lock(&lock) == 0);
    assert(pthread_mutex_lock(&lock) == EDEADLK);
    assert(pthread_mutex_trylock(&lock) == EBUSY);
    turns++;
    assert(pthread_mutex_unlock(&lock) == 0);
    return NULL;
}

int main(void)
{
    pthread_mutexattr_t attr;
    int type;
    pthread_mutexattr_init(&attr);
    pthread_mutexattr_settype(&attr, PTHREAD_MUTEX_ERRORCHECK);
    pthread_mutexattr_gettype(&attr, &type);
    assert(type == PTHREAD_MUTEX_ERRORCHECK);
    pthread_mutex_init(&lock, &attr);
    pthread_mutexattr_destroy(&attr);
    pthread_t a, b;
    pthread_create(&a, NULL, worker, NULL);
    pthread_create(&b, NULL, worker, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    assert(turns == 2);
    assert(pthread_mutex_destroy(&lock) == 0);
    return 0;
}
