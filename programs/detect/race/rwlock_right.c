//@ none
// Written under the write lock, read under the read lock.
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
static int value;
int seen; // what is never looked at would not be read

static void *first(void *arg)
{
    pthread_rwlock_wrlock(&lock);
    value = 1;
    pthread_rwlock_unlock(&lock);
    return arg;
}

static void *second(void *arg)
{
    pthread_rwlock_rdlock(&lock);
    seen = value;
    pthread_rwlock_unlock(&lock);
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
