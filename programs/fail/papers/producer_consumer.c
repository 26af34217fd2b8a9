//@ expect: deadlock
//@ execs: 500
//@ cause: pthread_cond_signal(&changed); | pthread_cond_wait(&changed, &lock);
//@ says: changed T1 T2
// Producers and consumers share one condition variable and wake one waiter each: a producer that waits for room wakes
// another one, instead of a consumer. It takes no preemption: with more producers than room, all of them wait.
#include <pthread.h>

#ifndef EACH
#define EACH 2
#define ITEMS 2
#endif
enum { ROOM = 1 };
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int n_items;

static void change(int must_have, int by)
{
    pthread_mutex_lock(&lock);
    while (n_items != must_have)
        pthread_cond_wait(&changed, &lock);
    n_items += by;
    pthread_cond_signal(&changed); // should be broadcast
    pthread_mutex_unlock(&lock);
}

static void *produce(void *arg)
{
    for (int i = 0; i < ITEMS; i++)
        change(0, ROOM);
    return arg;
}

static void *consume(void *arg)
{
    for (int i = 0; i < ITEMS; i++)
        change(ROOM, -ROOM);
    return arg;
}

int main(void)
{
    pthread_t t[2 * EACH];
    for (int i = 0; i < 2 * EACH; i++)
        pthread_create(&t[i], NULL, i < EACH ? produce : consume, NULL);
    for (int i = 0; i < 2 * EACH; i++)
        pthread_join(t[i], NULL);
    return 0;
}
