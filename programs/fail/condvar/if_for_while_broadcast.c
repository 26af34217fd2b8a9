//@ expect: assert
//@ execs: 1000
//@ cause: if (!closed) | closed = 1;
//@ says: items T1 T2
// One item, both consumers woken by a broadcast, and each looks only before it waits.
#include <assert.h>
#include <pthread.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t filled = PTHREAD_COND_INITIALIZER;
static int items, closed;

static void *consumer(void *arg)
{
    (void)arg;
    pthread_mutex_lock(&lock);
    if (items == 0 && !closed)
        pthread_cond_wait(&filled, &lock);
    if (!closed) {
        assert(items > 0);
        items--;
    }
    pthread_mutex_unlock(&lock);
    return NULL;
}

static void *producer(void *arg)
{
    (void)arg;
    for (int i = 0; i < 2; i++) {
        pthread_mutex_lock(&lock);
        if (i == 0)
            items++;
        else
            closed = 1;
        pthread_cond_broadcast(&filled);
        pthread_mutex_unlock(&lock);
    }
    return NULL;
}

int main(void)
{
    pthread_t t[3];
    pthread_create(&t[0], NULL, consumer, NULL);
    pthread_create(&t[1], NULL, consumer, NULL);
    pthread_create(&t[2], NULL, producer, NULL);
    for (int i = 0; i < 3; i++)
        pthread_join(t[i], NULL);
    return 0;
}
