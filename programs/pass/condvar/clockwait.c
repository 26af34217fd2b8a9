//@ expect: pass
//@ execs: 200
// pthread_cond_clockwait: the waiter gives up once, on a timeout, or takes the item; both leave a sound state.
#define _GNU_SOURCE
#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <time.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t ready = PTHREAD_COND_INITIALIZER;
static int item, taken, gave_up;

static void *waiter(void *arg)
{
    (void)arg;
    struct timespec until;
    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_nsec += 20 * 1000 * 1000;
    until.tv_sec += until.tv_nsec / 1000000000;
    until.tv_nsec %= 1000000000;
    pthread_mutex_lock(&lock);
    int rc = 0;
    while (item == 0 && rc != ETIMEDOUT)
        rc = pthread_cond_clockwait(&ready, &lock, CLOCK_MONOTONIC, &until);
    if (item) {
        item--;
        taken++;
    } else {
        gave_up++;
    }
    pthread_mutex_unlock(&lock);
    return NULL;
}

static void *giver(void *arg)
{
    (void)arg;
    pthread_mutex_lock(&lock);
    item++;
    pthread_cond_signal(&ready);
    pthread_mutex_unlock(&lock);
    return NULL;
}

int main(void)
{
    pthread_t a, b, c;
    pthread_create(&a, NULL, waiter, NULL);
    pthread_create(&b, NULL, waiter, NULL);
    pthread_create(&c, NULL, giver, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    pthread_join(c, NULL);
    assert(taken + gave_up == 2 && taken + item == 1);
    return 0;
}
