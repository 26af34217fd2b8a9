//@ expect: deadlock
//@ execs: 500
//@ cause: if (items == 0) | items++;
//@ says: lock T1 T2
// The error path of take() returns without unlocking; it is taken only if the consumer comes first.
#include <pthread.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int items;

static int take(void)
{
    pthread_mutex_lock(&lock);
    if (items == 0)
        return -1; // the mutex stays locked
    items--;
    pthread_mutex_unlock(&lock);
    return 0;
}

static void *producer(void *arg)
{
    (void)arg;
    pthread_mutex_lock(&lock);
    items++;
    pthread_mutex_unlock(&lock);
    return NULL;
}

static void *consumer(void *arg)
{
    (void)arg;
    take();
    return NULL;
}

int main(void)
{
    pthread_t a, b;
    pthread_create(&a, NULL, producer, NULL);
    pthread_create(&b, NULL, consumer, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return 0;
}
