//@ expect: assert
//@ execs: 500
//@ cause: items++; | assert(items > 0);
//@ says: items T1 T2
// The producer hands the item over before it is there.
#include <assert.h>
#include <pthread.h>
#include <semaphore.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static sem_t filled;
static int items;

static void *consumer(void *arg)
{
    (void)arg;
    sem_wait(&filled);
    pthread_mutex_lock(&lock);
    assert(items > 0);
    items--;
    pthread_mutex_unlock(&lock);
    return NULL;
}

static void *producer(void *arg)
{
    (void)arg;
    sem_post(&filled);
    pthread_mutex_lock(&lock);
    items++;
    pthread_mutex_unlock(&lock);
    return NULL;
}

int main(void)
{
    pthread_t t[2];
    sem_init(&filled, 0, 0);
    pthread_create(&t[0], NULL, consumer, NULL);
    pthread_create(&t[1], NULL, producer, NULL);
    for (int i = 0; i < 2; i++)
        pthread_join(t[i], NULL);
    return 0;
}
