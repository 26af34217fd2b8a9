//@ expect: assert
//@ execs: 1000
// After a timed wait the result is used without asking whether it was the timeout that ended it.
#include <assert.h>
#include <pthread.h>
#include <time.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t ready = PTHREAD_COND_INITIALIZER;
static int answer;

static void *solver(void *arg)
{
    (void)arg;
    nanosleep(&(struct timespec){0, 1000 * 1000}, NULL);
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
    until.tv_nsec += 1000 * 1000;
    if (until.tv_nsec >= 1000000000) {
        until.tv_nsec -= 1000000000;
        until.tv_sec++;
    }
    pthread_mutex_lock(&lock);
    if (answer == 0)
        pthread_cond_timedwait(&ready, &lock, &until);
    assert(answer == 42);
    pthread_mutex_unlock(&lock);
    return NULL;
}

int main(void)
{
    pthread_t a, b;
    pthread_create(&a, NULL, solver, NULL);
    pthread_create(&b, NULL, asker, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return 0;
}
