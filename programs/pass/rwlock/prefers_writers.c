//@ expect: pass
//@ execs: 300
// A lock that prefers writers, made so by its attributes: readers that are blocked by a waiting writer acquire it after
// it, and see what it wrote. With the usual kind, a reader may ask for the lock again although a writer waits.
#define _GNU_SOURCE
#include <assert.h>
#include <pthread.h>

static pthread_rwlock_t lock, usual = PTHREAD_RWLOCK_INITIALIZER;
static int left, right;

static void *reader(void *arg)
{
    for (int i = 0; i < 2; i++) {
        assert(pthread_rwlock_rdlock(&lock) == 0);
        assert(left == right);
        assert(pthread_rwlock_unlock(&lock) == 0);
    }
    assert(pthread_rwlock_rdlock(&usual) == 0);
    assert(pthread_rwlock_rdlock(&usual) == 0);
    assert(pthread_rwlock_unlock(&usual) == 0);
    assert(pthread_rwlock_unlock(&usual) == 0);
    return arg;
}

static void *writer(void *arg)
{
    assert(pthread_rwlock_wrlock(&lock) == 0);
    left++;
    right++;
    assert(pthread_rwlock_unlock(&lock) == 0);
    assert(pthread_rwlock_wrlock(&usual) == 0);
    assert(pthread_rwlock_unlock(&usual) == 0);
    return arg;
}

int main(void)
{
    pthread_rwlockattr_t attributes;
    pthread_rwlockattr_init(&attributes);
    pthread_rwlockattr_setkind_np(&attributes, PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP);
    assert(pthread_rwlock_init(&lock, &attributes) == 0);
    pthread_rwlockattr_destroy(&attributes);
    pthread_t threads[4];
    for (int i = 0; i < 4; i++)
        pthread_create(&threads[i], NULL, i % 2 == 0 ? reader : writer, NULL);
    for (int i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
    assert(left == 2 && right == 2);
    assert(pthread_rwlock_destroy(&lock) == 0);
    return 0;
}
