//@ expect: deadlock
//@ execs: 500
//@ cause: int count = event->count; | pthread_cond_broadcast(&event->happened); | pthread_cond_wait(
//@ says: first.happened T1 T2
// Two tasks wake each other through counted events. "Has the count changed? If not, wait" is not one
// critical section: an event in between is missed, and both wait for ever. (NASA's Remote Agent.)
#include <pthread.h>

#ifndef ROUNDS
#define ROUNDS 2
#endif
struct event {
    pthread_mutex_t lock;
    pthread_cond_t happened;
    int count;
};
#define EVENT {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, 0}
static struct event first = EVENT, second = EVENT;

static void wait_for(struct event *event)
{
    pthread_mutex_lock(&event->lock);
    pthread_cond_wait(&event->happened, &event->lock);
    pthread_mutex_unlock(&event->lock);
}

static void signal_all(struct event *event)
{
    pthread_mutex_lock(&event->lock);
    event->count++;
    pthread_cond_broadcast(&event->happened);
    pthread_mutex_unlock(&event->lock);
}

static int count_of(struct event *event)
{
    pthread_mutex_lock(&event->lock);
    int count = event->count;
    pthread_mutex_unlock(&event->lock);
    return count;
}

static void *first_task(void *arg)
{
    int seen = 0;
    for (int i = 0; i < ROUNDS; i++) {
        if (count_of(&first) == seen)
            wait_for(&first);
        seen = count_of(&first);
        signal_all(&second);
    }
    return arg;
}

static void *second_task(void *arg)
{
    int seen = 0;
    for (int i = 0; i < ROUNDS; i++) {
        signal_all(&first);
        if (count_of(&second) == seen)
            wait_for(&second);
        seen = count_of(&second);
    }
    return arg;
}

int main(void)
{
    pthread_t a, b;
    pthread_create(&a, NULL, first_task, NULL);
    pthread_create(&b, NULL, second_task, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return 0;
}
