//@ expect: pass
//@ execs: 200
// A thread dies with a robust mutex locked; exactly one heir is notified and repairs the state.
#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>

static pthread_mutex_t lock;
static int half_done, served;
static atomic_int heirs;

static void *deserter(void *arg)
{
    (void)arg;
    int rc = pthread_mutex_lock(&lock);
    assert(rc == 0);
    half_done = 1;
    return NULL; // without unlocking
}

static void *heir(void *arg)
{
    (void)arg;
    int rc = pthread_mutex_lock(&lock);
    if (rc == EOWNERDEAD) {
        assert(half_done == 1);
        half_done = 0;
        atomic_fetch_add(&heirs, 1);
        assert(pthread_mutex_consistent(&lock) == 0);
    } else {
        assert(rc == 0);
    }
    assert(half_done == 0);
    served++;
    assert(pthread_mutex_unlock(&lock) == 0);
    return NULL;
}

int main(void)
{
    pthread_mutexattr_t attr;
    pthread_mutexattr_init(&attr);
    pthread_mutexattr_setrobust(&attr, PTHREAD_MUTEX_ROBUST);
    pthread_mutex_init(&lock, &attr);
    pthread_t d, h[2];
    pthread_create(&d, NULL, deserter, NULL);
    pthread_create(&h[0], NULL, heir, NULL);
    pthread_create(&h[1], NULL, heir, NULL);
    pthread_join(d, NULL);
    pthread_join(h[0], NULL);
    pthread_join(h[1], NULL);
    heir(NULL); // if both heirs came before the deserter, main is the heir
    assert(heirs == 1 && served == 3);
    return pthread_mutex_destroy(&lock);
}
