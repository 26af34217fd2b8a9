//@ expect: misuse
//@ execs: 200
//@ cause: pthread_mutex_lock(&lock); | _Fork();
//@ says: lock T0 T1
// `_Fork` calls no handlers; what other threads hold stays locked in the child all the same.
#define _GNU_SOURCE
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int value;

static void *change(void *arg)
{
    pthread_mutex_lock(&lock);
    value++;
    pthread_mutex_unlock(&lock);
    return arg;
}

int main(void)
{
    pthread_t thread;
    pthread_create(&thread, NULL, change, NULL);
    pid_t child = _Fork();
    if (child == 0) {
        pthread_mutex_lock(&lock);
        value++;
        pthread_mutex_unlock(&lock);
        _exit(0);
    }
    waitpid(child, NULL, 0);
    pthread_join(thread, NULL);
    return 0;
}
