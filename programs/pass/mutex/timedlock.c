//@ expect: pass
//@ execs: 200
// pthread_mutex_timedlock: either the lock is had, or the time is over; both are counted.
#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <time.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int inside;
static atomic_int had, late;

static void *worker(void *arg)
{
    (void)arg;
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_nsec += 2 * 1000 * 1000;
    if (until.tv_nsec >= 1000000000) {
        until.tv_nsec -= 1000000000;
        until.tv_sec++;
    }
    int rc = pthread_mutex_timedlock(&lock, &until);
    if (rc == 0) {
        assert(inside++ == 0);
        nanosleep(&(struct timespec){0, 3 * 1000 * 1000}, NULL);
        inside--;
        pthread_mutex_unlock(&lock);
        atomic_fetch_add(&had, 1);
    } else {
        assert(rc == ETIMEDOUT);
        atomic_fetch_add(&late, 1);
    }
    return NULL;
}

int main(void)
{
    pthread_t t[3];
    for (int i = 0; i < 3; i++)
        pthread_create(&t[i], NULL, worker, NULL);
    for (int i = 0; i < 3; i++)
        pthread_join(t[i], NULL);
    assert(had + late == 3);
    return 0;
}
