//@ none
//@ execs: 1
// Writers exclude readers.
#include <pthread.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER, other = PTHREAD_MUTEX_INITIALIZER;
static pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;
int value;
int seen; // what is never looked at would not be read

static void *first(void *arg)
{
    pthread_rwlock_wrlock(&rwlock);
    value = 1;
    pthread_rwlock_unlock(&rwlock);
    pthread_mutex_lock(&other);
    pthread_mutex_unlock(&other);
    return arg;
}

static void *second(void *arg)
{
    pthread_rwlock_rdlock(&rwlock);
    seen = value;
    pthread_rwlock_unlock(&rwlock);
    pthread_mutex_lock(&lock);
    pthread_mutex_unlock(&lock);
    return arg;
}

int main(void)
{
    pthread_t a, b;
    pthread_create(&a, NULL, first, NULL);
    pthread_create(&b, NULL, second, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return 0;
}
