//@ expect: deadlock
//@ execs: 4000
//@ unnamed: flow->is_paused = true; | if (was_paused && level <= LOW)
//@ says: resumed arrived T3 T4
// Flow control with two marks. The level and the pause have locks of their own: the consumer falls below the low mark just
// before the producer, which has seen the high one, calls for a pause that nobody will end.
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>

enum { HIGH = 4, LOW = 1, ITEMS = 10, STREAMS = 2 };

struct flow {
    pthread_mutex_t level_lock;
    int level;
    pthread_cond_t arrived;
    pthread_mutex_t pause_lock;
    pthread_cond_t resumed;
    bool is_paused;
    int n_pauses;
};

static struct flow flows[STREAMS];
static struct {
    pthread_mutex_t lock;
    long n_bytes;
    int n_by_stream[STREAMS];
} traffic = {.lock = PTHREAD_MUTEX_INITIALIZER};

static void count(struct flow *flow, int n)
{
    pthread_mutex_lock(&traffic.lock);
    traffic.n_bytes += n;
    traffic.n_by_stream[flow - flows]++;
    pthread_mutex_unlock(&traffic.lock);
}

static int raise_level(struct flow *flow)
{
    pthread_mutex_lock(&flow->level_lock);
    int level = ++flow->level;
    pthread_cond_signal(&flow->arrived);
    pthread_mutex_unlock(&flow->level_lock);
    return level;
}

static int lower_level(struct flow *flow)
{
    pthread_mutex_lock(&flow->level_lock);
    while (flow->level == 0)
        pthread_cond_wait(&flow->arrived, &flow->level_lock);
    int level = --flow->level;
    pthread_mutex_unlock(&flow->level_lock);
    return level;
}

static void pause_producer(struct flow *flow)
{
    pthread_mutex_lock(&flow->pause_lock);
    flow->is_paused = true;
    flow->n_pauses++;
#ifdef FIXED
    // The consumer may have come below the mark before it could see the pause.
    pthread_mutex_lock(&flow->level_lock);
    if (flow->level <= LOW)
        flow->is_paused = false;
    pthread_mutex_unlock(&flow->level_lock);
#endif
    while (flow->is_paused)
        pthread_cond_wait(&flow->resumed, &flow->pause_lock);
    pthread_mutex_unlock(&flow->pause_lock);
}

static void resume_producer(struct flow *flow, int level)
{
    pthread_mutex_lock(&flow->pause_lock);
    bool was_paused = flow->is_paused;
    if (was_paused && level <= LOW) {
        flow->is_paused = false;
        pthread_cond_signal(&flow->resumed);
    }
    pthread_mutex_unlock(&flow->pause_lock);
}

static void *produce(void *arg)
{
    struct flow *flow = arg;
    for (int i = 0; i < ITEMS; i++) {
        count(flow, i);
        if (raise_level(flow) >= HIGH && i < ITEMS - 1)
            pause_producer(flow);
    }
    return NULL;
}

static void *consume(void *arg)
{
    struct flow *flow = arg;
    for (int i = 0; i < ITEMS; i++) {
        int level = lower_level(flow);
        count(flow, -i);
        resume_producer(flow, level);
    }
    return NULL;
}

int main(void)
{
    pthread_t threads[2 * STREAMS];
    for (int i = 0; i < STREAMS; i++) {
        pthread_mutex_init(&flows[i].level_lock, NULL);
        pthread_cond_init(&flows[i].arrived, NULL);
        pthread_mutex_init(&flows[i].pause_lock, NULL);
        pthread_cond_init(&flows[i].resumed, NULL);
        pthread_create(&threads[2 * i], NULL, produce, &flows[i]);
        pthread_create(&threads[2 * i + 1], NULL, consume, &flows[i]);
    }
    for (int i = 0; i < 2 * STREAMS; i++)
        pthread_join(threads[i], NULL);
    return 0;
}
