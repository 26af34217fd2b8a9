//@ expect: pass
//@ execs: 200
// The try and timed forms of a read-write lock: each failure is EBUSY or ETIMEDOUT, and harmless.
#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <time.h>

static pthread_rwlock_t lock;
static int value;
static atomic_int written;

static void *writer(void *arg)
{
    (void)arg;
    struct timespec until;
    int rc = pthread_rwlock_trywrlock(&lock);
    if (rc == EBUSY) {
        clock_gettime(CLOCK_REALTIME, &until);
        until.tv_sec += 1;
        rc = pthread_rwlock_timedwrlock(&lock, &until);
    }
    if (rc != 0)
        return NULL;
    value += 2;
    atomic_fetch_add(&written, 2);
    pthread_rwlock_unlock(&lock);
    return NULL;
}

static void *reader(void *arg)
{
    (void)arg;
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += 1;
    int rc = pthread_rwlock_tryrdlock(&lock);
    if (rc == EBUSY)
        rc = pthread_rwlock_timedrdlock(&lock, &until);
    assert(rc == 0 || rc == ETIMEDOUT);
    if (rc == 0) {
        assert(value % 2 == 0);
        pthread_rwlock_unlock(&lock);
    }
    return NULL;
}

int main(void)
{
    pthread_t t[4];
    pthread_rwlock_init(&lock, NULL);
    for (int i = 0; i < 4; i++)
        pthread_create(&t[i], NULL, i % 2 ? writer : reader, NULL);
    for (int i = 0; i < 4; i++)
        pthread_join(t[i], NULL);
    assert(value == written);
    return pthread_rwlock_destroy(&lock);
}
