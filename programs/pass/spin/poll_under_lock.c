//@ expect: pass
//@ execs: 100
// Polling under a lock: the waiting thread repeats the same state, so it yields although each of its steps could be work.
#include <pthread.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int ready;

static void *set(void *arg)
{
    pthread_mutex_lock(&lock);
    ready = 1;
    pthread_mutex_unlock(&lock);
    return arg;
}

int main(void)
{
    pthread_t thread;
    pthread_create(&thread, NULL, set, NULL);
    for (int is_ready = 0; !is_ready;) {
        pthread_mutex_lock(&lock);
        is_ready = ready;
        pthread_mutex_unlock(&lock);
    }
    pthread_join(thread, NULL);
    return 0;
}
