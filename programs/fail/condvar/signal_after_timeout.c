//@ expect: deadlock
//@ execs: 500
//@ cause: pthread_cond_signal(&news); | pthread_cond_wait(&news, &lock);
//@ says: news T0 T1
// The first wait has a deadline, the second has none. A signal between the two wakes no thread.
#include <errno.h>
#include <pthread.h>
#include <time.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t news = PTHREAD_COND_INITIALIZER, begun = PTHREAD_COND_INITIALIZER;
static int is_waiting;

static void *wait_twice(void *arg)
{
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_nsec += 10 * 1000 * 1000;
    pthread_mutex_lock(&lock);
    is_waiting = 1;
    pthread_cond_signal(&begun);
    int result = pthread_cond_timedwait(&news, &lock, &until);
    pthread_mutex_unlock(&lock);
    if (result == ETIMEDOUT) {
        pthread_mutex_lock(&lock);
        pthread_cond_wait(&news, &lock);
        pthread_mutex_unlock(&lock);
    }
    return arg;
}

int main(void)
{
    pthread_t waiter;
    pthread_create(&waiter, NULL, wait_twice, NULL);
    pthread_mutex_lock(&lock);
    while (!is_waiting)
        pthread_cond_wait(&begun, &lock);
    pthread_mutex_unlock(&lock);
    pthread_mutex_lock(&lock);
    pthread_cond_signal(&news);
    pthread_mutex_unlock(&lock);
    pthread_join(waiter, NULL);
    return 0;
}
