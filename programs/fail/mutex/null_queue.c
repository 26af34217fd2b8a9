//@ expect: crash
//@ execs: 200
//@ cause: queue = NULL; | (&queue->lock);
//@ says: queue T0 T1
// A worker takes the lock of a queue that may be gone by then: it passes the address of a field of nothing.
#include <pthread.h>
#include <stdlib.h>

static struct queue {
    int n_items;
    pthread_mutex_t lock;
} first = {.lock = PTHREAD_MUTEX_INITIALIZER};
static struct queue *volatile queue = &first;

static void *work(void *arg)
{
    pthread_mutex_lock(&queue->lock);
    first.n_items++;
    pthread_mutex_unlock(&queue->lock);
    return arg;
}

int main(void)
{
    pthread_t thread;
    pthread_create(&thread, NULL, work, NULL);
    queue = NULL;
    pthread_join(thread, NULL);
    return 0;
}
