//@ expect: assert
//@ execs: 500
//@ cause: inside++; | assert(inside == 0);
//@ says: inside T1 T2
// timedlock's result goes unasked: after a timeout the thread walks into an occupied critical section.
#include <assert.h>
#include <pthread.h>
#include <time.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int inside;

static void *patient(void *arg)
{
    (void)arg;
    pthread_mutex_lock(&lock);
    inside++;
    nanosleep(&(struct timespec){2, 0}, NULL);
    inside--;
    pthread_mutex_unlock(&lock);
    return NULL;
}

static void *hasty(void *arg)
{
    (void)arg;
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += 1;
    int rc = pthread_mutex_timedlock(&lock, &until);
    assert(inside == 0);
    if (rc == 0)
        pthread_mutex_unlock(&lock);
    return NULL;
}

int main(void)
{
    pthread_t a, b;
    pthread_create(&b, NULL, hasty, NULL);
    pthread_create(&a, NULL, patient, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return 0;
}
