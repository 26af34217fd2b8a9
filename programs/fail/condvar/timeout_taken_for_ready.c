//@ expect: assert
//@ execs: 500
//@ cause: pthread_mutex_lock(&device);
//@ says: device T1 T2
// After a timed wait the answer is used without asking whether the timeout ended it: if maintenance
// has the device first, the solver is too late.
#include <assert.h>
#include <pthread.h>
#include <time.h>

static pthread_mutex_t device = PTHREAD_MUTEX_INITIALIZER, lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t ready = PTHREAD_COND_INITIALIZER;
static int answer;

static void *use_device(void *arg)
{
    int *millis = arg;
    pthread_mutex_lock(&device);
    nanosleep(&(struct timespec){0, *millis * 1000 * 1000}, NULL);
    pthread_mutex_unlock(&device);
    return NULL;
}

static void *solver(void *arg)
{
    use_device(arg);
    pthread_mutex_lock(&lock);
    answer = 42;
    pthread_cond_signal(&ready);
    pthread_mutex_unlock(&lock);
    return NULL;
}

static void *asker(void *arg)
{
    (void)arg;
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_nsec += 30 * 1000 * 1000;
    until.tv_sec += until.tv_nsec / 1000000000;
    until.tv_nsec %= 1000000000;
    pthread_mutex_lock(&lock);
    if (answer == 0)
        pthread_cond_timedwait(&ready, &lock, &until);
    assert(answer == 42);
    pthread_mutex_unlock(&lock);
    return NULL;
}

int main(void)
{
    pthread_t t[3];
    int quick = 1, slow = 100;
    pthread_create(&t[0], NULL, solver, &quick);
    pthread_create(&t[1], NULL, use_device, &slow);
    pthread_create(&t[2], NULL, asker, NULL);
    for (int i = 0; i < 3; i++)
        pthread_join(t[i], NULL);
    return 0;
}
