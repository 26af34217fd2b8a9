// A bounded buffer with one condition variable for producers and consumers. All waiters are woken.
#include <pthread.h>
#include <stdio.h>

#define CAPACITY 1
#define ITEMS 2

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int items[CAPACITY], count;

static void put(int item) {
    pthread_mutex_lock(&lock);
    while (count == CAPACITY)
        pthread_cond_wait(&changed, &lock);
    items[count++] = item;
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&lock);
}

static int get(void) {
    pthread_mutex_lock(&lock);
    while (count == 0)
        pthread_cond_wait(&changed, &lock);
    int item = items[--count];
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&lock);
    return item;
}

static void *producer(void *arg) {
    for (int i = 0; i < ITEMS; i++)
        put(i);
    return arg;
}

static void *consumer(void *arg) {
    for (int i = 0; i < ITEMS; i++)
        get();
    return arg;
}

int main(void) {
    pthread_t threads[4];
    for (int i = 0; i < 4; i++)
        pthread_create(&threads[i], NULL, i < 2 ? producer : consumer, NULL);
    for (int i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
    puts("all items were consumed");
}
