//@ race: a b
//@ execs: 1
// A write under a read lock, and a critical section of another lock that orders the two in this schedule.
#include <pthread.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;
int value;
int seen; // what is never looked at would not be read

static void *first(void *arg)
{
    pthread_rwlock_rdlock(&rwlock);
    value = 1; //= a
    pthread_rwlock_unlock(&rwlock);
    pthread_mutex_lock(&lock);
    pthread_mutex_unlock(&lock);
    return arg;
}

static void *second(void *arg)
{
    pthread_mutex_lock(&lock);
    pthread_mutex_unlock(&lock);
    pthread_rwlock_rdlock(&rwlock);
    seen = value; //= b
    pthread_rwlock_unlock(&rwlock);
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
