//@ deadlock: a b c d
//@ execs: 1
// Each thread holds a read lock and acquires the other's for writing.
#include <pthread.h>

static pthread_rwlock_t left = PTHREAD_RWLOCK_INITIALIZER, right = PTHREAD_RWLOCK_INITIALIZER;

static void *first(void *arg)
{
    pthread_rwlock_rdlock(&left); //= a
    pthread_rwlock_wrlock(&right); //= b
    pthread_rwlock_unlock(&right);
    pthread_rwlock_unlock(&left);
    return arg;
}

static void *second(void *arg)
{
    pthread_rwlock_rdlock(&right); //= c
    pthread_rwlock_wrlock(&left); //= d
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
