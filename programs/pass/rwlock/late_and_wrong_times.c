//@ expect: pass
//@ execs: 300
// Timed locks that are free are taken however late the deadline; wrong times and clocks are refused.
#define _GNU_SOURCE
#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <time.h>

static pthread_rwlock_t rw = PTHREAD_RWLOCK_INITIALIZER;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t cond = PTHREAD_COND_INITIALIZER;
static pthread_spinlock_t spin;
static pthread_barrier_t barrier;
static int serial, noise;
static pthread_mutex_t noisy = PTHREAD_MUTEX_INITIALIZER;

static void *round_trip(void *arg)
{
    for (int i = 0; i < 3; i++) {
        if (pthread_barrier_wait(&barrier) == PTHREAD_BARRIER_SERIAL_THREAD)
            __atomic_add_fetch(&serial, 1, __ATOMIC_RELAXED);
    }
    return arg;
}

static void *make_noise(void *arg)
{
    for (int i = 0; i < 4; i++) {
        pthread_mutex_lock(&noisy);
        noise++;
        pthread_mutex_unlock(&noisy);
    }
    return arg;
}

int main(void)
{
    struct timespec past = {1, 0}, bad = {1, -5};
    pthread_t threads[3];
    pthread_create(&threads[0], NULL, make_noise, NULL);
    assert(pthread_rwlock_timedwrlock(&rw, &past) == 0);
    assert(pthread_rwlock_tryrdlock(&rw) == EBUSY && pthread_rwlock_wrlock(&rw) == EDEADLK);
    assert(pthread_rwlock_unlock(&rw) == 0);
    assert(pthread_rwlock_clockrdlock(&rw, CLOCK_MONOTONIC, &past) == 0);
    assert(pthread_rwlock_timedrdlock(&rw, &past) == 0);
    assert(pthread_rwlock_timedwrlock(&rw, &past) == ETIMEDOUT);
    assert(pthread_rwlock_trywrlock(&rw) == EBUSY);
    assert(pthread_rwlock_unlock(&rw) == 0 && pthread_rwlock_unlock(&rw) == 0);
    assert(pthread_rwlock_clockwrlock(&rw, 77, &past) == EINVAL);
    assert(pthread_rwlock_timedwrlock(&rw, &bad) == EINVAL);
    assert(pthread_mutex_timedlock(&mutex, &past) == 0);
    assert(pthread_cond_timedwait(&cond, &mutex, &past) == ETIMEDOUT);
    assert(pthread_cond_timedwait(&cond, &mutex, &bad) == EINVAL);
    assert(pthread_cond_clockwait(&cond, &mutex, CLOCK_MONOTONIC, &past) == ETIMEDOUT);
    assert(pthread_cond_signal(&cond) == 0 && pthread_cond_destroy(&cond) == 0);
    assert(pthread_cond_init(&cond, NULL) == 0 && pthread_cond_broadcast(&cond) == 0);
    pthread_mutex_unlock(&mutex);
    pthread_join(threads[0], NULL);
    pthread_spin_init(&spin, 0);
    assert(pthread_spin_lock(&spin) == 0 && pthread_spin_trylock(&spin) == EBUSY);
    assert(pthread_spin_unlock(&spin) == 0 && pthread_spin_destroy(&spin) == 0);
    assert(pthread_barrier_init(&barrier, NULL, 0) == EINVAL);
    assert(pthread_barrier_init(&barrier, NULL, 3) == 0);
    for (int i = 0; i < 3; i++)
        pthread_create(&threads[i], NULL, round_trip, NULL);
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], NULL);
    assert(serial == 3 && pthread_barrier_destroy(&barrier) == 0);
    assert(pthread_rwlock_destroy(&rw) == 0 && pthread_rwlock_init(&rw, NULL) == 0);
    for (int i = 0; i < 2; i++) { // the same stack memory, initialised statically
        pthread_rwlock_t local = PTHREAD_RWLOCK_INITIALIZER;
        assert(pthread_rwlock_wrlock(&local) == 0 && pthread_rwlock_unlock(&local) == 0);
        assert(pthread_rwlock_destroy(&local) == 0);
    }
    return 0;
}
