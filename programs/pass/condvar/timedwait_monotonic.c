//@ expect: pass
//@ execs: 200
// A condition on the monotonic clock (condattr_setclock): the waiter retries timeouts until the value is there.
#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <time.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t ready;
static int value;

static void *waiter(void *arg)
{
    (void)arg;
    pthread_mutex_lock(&lock);
    while (value == 0) {
        struct timespec until;
        clock_gettime(CLOCK_MONOTONIC, &until);
        until.tv_sec += 1;
        int rc = pthread_cond_timedwait(&ready, &lock, &until);
        assert(rc == 0 || rc == ETIMEDOUT);
    }
    value--;
    pthread_mutex_unlock(&lock);
    return NULL;
}

int main(void)
{
    pthread_condattr_t attr;
    clockid_t clock;
    pthread_condattr_init(&attr);
    pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
    pthread_condattr_getclock(&attr, &clock);
    assert(clock == CLOCK_MONOTONIC);
    pthread_cond_init(&ready, &attr);
    pthread_condattr_destroy(&attr);
    pthread_t a, b;
    pthread_create(&a, NULL, waiter, NULL);
    pthread_create(&b, NULL, waiter, NULL);
    for (int i = 0; i < 2; i++) {
        pthread_mutex_lock(&lock);
        value++;
        pthread_cond_signal(&ready);
        pthread_mutex_unlock(&lock);
    }
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    assert(value == 0);
    return pthread_cond_destroy(&ready);
}
