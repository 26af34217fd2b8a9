//@ expect: deadlock
//@ execs: 500
//@ cause: pthread_rwlock_rdlock(&lock); | pthread_rwlock_wrlock(&lock);
//@ says: lock T2
// A reader that misses upgrades to writer while it still holds the read lock: it waits for itself.
#include <pthread.h>

static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
static int cached;

static void *filler(void *arg)
{
    (void)arg;
    pthread_rwlock_wrlock(&lock);
    cached = 7;
    pthread_rwlock_unlock(&lock);
    return NULL;
}

static void *reader(void *arg)
{
    (void)arg;
    pthread_rwlock_rdlock(&lock);
    if (cached == 0) {
        pthread_rwlock_wrlock(&lock);
        cached = 7;
        pthread_rwlock_unlock(&lock);
    }
    pthread_rwlock_unlock(&lock);
    return NULL;
}

int main(void)
{
    pthread_t a, b;
    pthread_create(&a, NULL, filler, NULL);
    pthread_create(&b, NULL, reader, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return 0;
}
