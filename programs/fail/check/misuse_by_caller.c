//@ expect: misuse
//@ execs: 50
//@ cause: pthread_mutex_unlock(&lock);
//@ says: lock T0
// The thread that calls the checked function goes wrong in it, whatever the schedule: when it is asked whether
// executions can begin with the function, too.
#include <pthread.h>
#include <raddle.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *work(void *arg)
{
    return arg;
}

static void unlocks(void *arg)
{
    pthread_t thread;
    pthread_create(&thread, NULL, work, arg);
    pthread_mutex_unlock(&lock);
    pthread_join(thread, NULL);
}

int main(void)
{
    raddle_check(unlocks, NULL);
    return 0;
}
