//@ expect: pass
//@ execs: 200
// sem_trywait and sem_timedwait fail with EAGAIN and ETIMEDOUT; the permits add up in the end.
#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <time.h>

static sem_t permits;
static atomic_int taken;

static void *taker(void *arg)
{
    (void)arg;
    if (sem_trywait(&permits) == 0) {
        atomic_fetch_add(&taken, 1);
        return NULL;
    }
    assert(errno == EAGAIN);
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += 1;
    if (sem_timedwait(&permits, &until) == 0)
        atomic_fetch_add(&taken, 1);
    else
        assert(errno == ETIMEDOUT);
    return NULL;
}

int main(void)
{
    pthread_t t[3];
    int left;
    sem_init(&permits, 0, 1);
    for (int i = 0; i < 3; i++)
        pthread_create(&t[i], NULL, taker, NULL);
    sem_post(&permits);
    sem_post(&permits);
    for (int i = 0; i < 3; i++)
        pthread_join(t[i], NULL);
    sem_getvalue(&permits, &left);
    assert(left + taken == 3);
    sem_destroy(&permits);
    return 0;
}
