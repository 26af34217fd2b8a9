//@ expect: misuse
//@ execs: 50
//@ cause: pthread_mutex_unlock(&lock);
//@ says: lock T0
// The checked function is fine; what the program does after it is not.
#include <pthread.h>
#include <raddle.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *work(void *arg)
{
    return arg;
}

static void is_fine(void *arg)
{
    pthread_t thread;
    pthread_create(&thread, NULL, work, arg);
    pthread_join(thread, NULL);
}

int main(void)
{
    pthread_t thread;
    raddle_check(is_fine, NULL);
    pthread_create(&thread, NULL, work, NULL);
    pthread_mutex_unlock(&lock);
    pthread_join(thread, NULL);
    return 0;
}
