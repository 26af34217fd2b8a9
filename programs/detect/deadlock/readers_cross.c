//@ none
//@ execs: 1
// Two locks in both orders, but each is acquired second as a read lock that the other shares.
#include <pthread.h>

static pthread_rwlock_t left = PTHREAD_RWLOCK_INITIALIZER, right = PTHREAD_RWLOCK_INITIALIZER;

static void *first(void *arg)
{
    pthread_rwlock_rdlock(&left);
    pthread_rwlock_rdlock(&right);
    pthread_rwlock_unlock(&right);
    pthread_rwlock_unlock(&left);
    return arg;
}

static void *second(void *arg)
{
    pthread_rwlock_rdlock(&right);
    pthread_rwlock_rdlock(&left);
    pthread_rwlock_unlock(&left);
    pthread_rwlock_unlock(&right);
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
