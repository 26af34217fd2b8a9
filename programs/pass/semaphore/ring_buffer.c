//@ expect: pass
//@ execs: 200
// Producer and consumer over a two-slot ring with two counting semaphores.
#include <assert.h>
#include <pthread.h>
#include <semaphore.h>

static sem_t empty, full;
static int ring[2];

static void *producer(void *arg)
{
    (void)arg;
    for (int i = 0; i < 5; i++) {
        sem_wait(&empty);
        ring[i % 2] = i * i;
        sem_post(&full);
    }
    return NULL;
}

static void *consumer(void *arg)
{
    (void)arg;
    for (int i = 0; i < 5; i++) {
        sem_wait(&full);
        assert(ring[i % 2] == i * i);
        sem_post(&empty);
    }
    return NULL;
}

int main(void)
{
    pthread_t a, b;
    int value;
    sem_init(&empty, 0, 2);
    sem_init(&full, 0, 0);
    pthread_create(&a, NULL, producer, NULL);
    pthread_create(&b, NULL, consumer, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    sem_getvalue(&empty, &value);
    assert(value == 2);
    sem_getvalue(&full, &value);
    assert(value == 0);
    sem_destroy(&empty);
    sem_destroy(&full);
    return 0;
}
