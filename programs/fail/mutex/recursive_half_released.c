//@ expect: deadlock
//@ execs: 500
//@ cause: pthread_mutex_lock(&lock); // a second time | pthread_mutex_lock(&lock); // waits for the cleaner
//@ says: lock T1 T2
// A recursive mutex locked twice on a rare path and unlocked once: the thread ends with it.
#include <pthread.h>

static pthread_mutex_t lock;
static int dirty;

static void *cleaner(void *arg)
{
    (void)arg;
    pthread_mutex_lock(&lock);
    if (dirty) {
        pthread_mutex_lock(&lock); // a second time
        dirty = 0;
    }
    pthread_mutex_unlock(&lock);
    return NULL;
}

static void *soiler(void *arg)
{
    (void)arg;
    for (int i = 1; i >= 0; i--) {
        pthread_mutex_lock(&lock); // waits for the cleaner
        dirty = i;
        pthread_mutex_unlock(&lock);
    }
    return NULL;
}

int main(void)
{
    pthread_mutexattr_t attr;
    pthread_mutexattr_init(&attr);
    pthread_mutexattr_settype(&attr, PTHREAD_MUTEX_RECURSIVE);
    pthread_mutex_init(&lock, &attr);
    pthread_t a, b;
    pthread_create(&a, NULL, soiler, NULL);
    pthread_create(&b, NULL, cleaner, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return 0;
}
