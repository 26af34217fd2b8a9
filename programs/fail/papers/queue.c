//@ expect: assert
//@ execs: 500
//@ cause: int is_empty = amount == 0; | head = tail = amount = 0;
//@ says: amount head T1 T2
// A locked queue whose reader trusts a count that it read in an earlier critical section, and whose writer
// starts over when it has filled the queue.
#include <assert.h>
#include <pthread.h>

#ifndef N
#define N 20
#endif
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int items[N], head, tail, amount;

static void *enqueue_all(void *arg)
{
    for (int i = 0; i < N; i++) {
        pthread_mutex_lock(&lock);
        items[tail++] = i;
        amount++;
        pthread_mutex_unlock(&lock);
    }
    pthread_mutex_lock(&lock);
    head = tail = amount = 0; // nobody will want the rest
    pthread_mutex_unlock(&lock);
    return arg;
}

static int is_empty(void)
{
    pthread_mutex_lock(&lock);
    int is_empty = amount == 0;
    pthread_mutex_unlock(&lock);
    return is_empty;
}

static void *dequeue_all(void *arg)
{
    for (int i = 0; i < N && !is_empty(); i++) {
        pthread_mutex_lock(&lock);
        assert(head < tail);
        assert(items[head++] == i);
        amount--;
        pthread_mutex_unlock(&lock);
    }
    return arg;
}

int main(void)
{
    pthread_t a, b;
    pthread_create(&a, NULL, enqueue_all, NULL);
    pthread_create(&b, NULL, dequeue_all, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return 0;
}
