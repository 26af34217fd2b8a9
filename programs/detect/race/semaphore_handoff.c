//@ none
// Handed over by a semaphore.
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <semaphore.h>

static sem_t items;
static int data;
int seen; // what is never looked at would not be read

static void *first(void *arg)
{
    data = 42;
    sem_post(&items);
    return arg;
}

static void *second(void *arg)
{
    sem_wait(&items);
    seen = data;
    return arg;
}

int main(void)
{
    pthread_t a, b;
    sem_init(&items, 0, 0);
    pthread_create(&a, NULL, first, NULL);
    pthread_create(&b, NULL, second, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return 0;
}
