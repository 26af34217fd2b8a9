//@ expect: pass
//@ execs: 300
// A sleep of 20 ms never ends before waits of 2 ms that began with it, whatever they wait for.
#include <assert.h>
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <time.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t never = PTHREAD_COND_INITIALIZER;
static sem_t none;
static atomic_int n_waits_over;
static pthread_barrier_t start;

static struct timespec in_2_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_REALTIME, &t);
    t.tv_nsec += 2 * 1000 * 1000;
    t.tv_sec += t.tv_nsec / 1000000000;
    t.tv_nsec %= 1000000000;
    return t;
}

static void *waiter(void *arg)
{
    pthread_barrier_wait(&start);
    struct timespec until = in_2_ms();
    switch ((long)arg) {
    case 0:
        pthread_mutex_lock(&lock);
        assert(pthread_cond_timedwait(&never, &lock, &until) == ETIMEDOUT);
        pthread_mutex_unlock(&lock);
        break;
    case 1:
        assert(sem_timedwait(&none, &until) == -1 && errno == ETIMEDOUT);
        break;
    default:
        assert(poll(NULL, 0, 2) == 0);
    }
    atomic_fetch_add(&n_waits_over, 1);
    return NULL;
}

static double seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec + t.tv_nsec / 1e9;
}

int main(void)
{
    pthread_t t[3];
    sem_init(&none, 0, 0);
    pthread_barrier_init(&start, NULL, 4);
    for (long i = 0; i < 3; i++)
        pthread_create(&t[i], NULL, waiter, (void *)i);
    pthread_barrier_wait(&start);
    double before = seconds();
    usleep(20 * 1000);
    double slept = seconds() - before;
    assert(slept >= 0.02);
    for (int i = 0; i < 3; i++)
        pthread_join(t[i], NULL);
    assert(atomic_load(&n_waits_over) == 3);
    return 0;
}
