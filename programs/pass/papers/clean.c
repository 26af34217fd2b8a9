//@ expect: pass
//@ execs: 400
// fail/papers/clean.c, mended: the count is looked at and waited for in one critical section.
#include <pthread.h>

enum { ROUNDS = 2 };
struct event {
    pthread_mutex_t lock;
    pthread_cond_t happened;
    int count;
};
#define EVENT {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, 0}
static struct event first = EVENT, second = EVENT;

static int wait_for_more_than(struct event *event, int seen)
{
    pthread_mutex_lock(&event->lock);
    while (event->count == seen)
        pthread_cond_wait(&event->happened, &event->lock);
    seen = event->count;
    pthread_mutex_unlock(&event->lock);
    return seen;
}

static void signal_all(struct event *event)
{
    pthread_mutex_lock(&event->lock);
    event->count++;
    pthread_cond_broadcast(&event->happened);
    pthread_mutex_unlock(&event->lock);
}

static void *first_task(void *arg)
{
    for (int i = 0, seen = 0; i < ROUNDS; i++) {
        seen = wait_for_more_than(&first, seen);
        signal_all(&second);
    }
    return arg;
}

static void *second_task(void *arg)
{
    for (int i = 0, seen = 0; i < ROUNDS; i++) {
        signal_all(&first);
        seen = wait_for_more_than(&second, seen);
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
