//@ expect: assert
//@ execs: 4000
//@ unnamed: timer->is_cancelled = true; | fire(due[i]);
//@ says: is_open T1 T4
// A wheel of timers. What is due is taken off the wheel under its lock and fires without it; a cancellation that finds the
// timer off the wheel believes that it has fired, and its owner takes down what the timer works on.
#include <assert.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>

enum { SLOTS = 4, TIMERS = 6, CLIENTS = 3, TICKS = 6 };

struct target {
    pthread_mutex_t lock;
    bool is_open;
    int n_fired;
};

struct timer {
    struct timer *next;
    struct target *target;
    bool is_queued, is_cancelled;
    int period;
};

static struct timer timers[TIMERS];
static struct target targets[CLIENTS];
static struct {
    pthread_mutex_t lock;
    struct timer *slots[SLOTS];
    int now;
} wheel = {.lock = PTHREAD_MUTEX_INITIALIZER};
static struct {
    pthread_mutex_t lock;
    int n_started, n_cancelled, n_fired, n_ticks;
} totals = {.lock = PTHREAD_MUTEX_INITIALIZER};

static void bump(int *counter)
{
    pthread_mutex_lock(&totals.lock);
    (*counter)++;
    pthread_mutex_unlock(&totals.lock);
}

// The wheel is held.
static void enqueue(struct timer *timer)
{
    struct timer **slot = &wheel.slots[(wheel.now + timer->period) % SLOTS];
    timer->next = *slot;
    *slot = timer;
    timer->is_queued = true;
}

static void start(struct timer *timer, struct target *target, int period)
{
    bump(&totals.n_started);
    pthread_mutex_lock(&wheel.lock);
    timer->target = target;
    timer->period = period;
    timer->is_cancelled = false;
    enqueue(timer);
    pthread_mutex_unlock(&wheel.lock);
}

static void cancel(struct timer *timer)
{
    pthread_mutex_lock(&wheel.lock);
    timer->is_cancelled = true;
    if (timer->is_queued) {
        for (int i = 0; i < SLOTS; i++)
            for (struct timer **at = &wheel.slots[i]; *at; at = &(*at)->next)
                if (*at == timer) {
                    *at = timer->next;
                    goto out;
                }
    out:
        timer->is_queued = false;
    }
    pthread_mutex_unlock(&wheel.lock);
    bump(&totals.n_cancelled);
}

static void fire(struct timer *timer)
{
    pthread_mutex_lock(&timer->target->lock);
    assert(timer->target->is_open);
    timer->target->n_fired++;
    pthread_mutex_unlock(&timer->target->lock);
    bump(&totals.n_fired);
}

static int collect(struct timer **due)
{
    int n = 0;
    pthread_mutex_lock(&wheel.lock);
    struct timer **slot = &wheel.slots[wheel.now++ % SLOTS];
    while (*slot) {
        struct timer *timer = *slot;
        *slot = timer->next;
        timer->is_queued = false;
        due[n++] = timer;
    }
    pthread_mutex_unlock(&wheel.lock);
    return n;
}

static void *turn(void *arg)
{
    struct timer *due[TIMERS];
    for (int tick = 0; tick < TICKS; tick++) {
        bump(&totals.n_ticks);
        int n = collect(due);
        for (int i = 0; i < n; i++)
            fire(due[i]);
    }
    return arg;
}

static void use(struct target *target)
{
    pthread_mutex_lock(&target->lock);
    target->n_fired += 0;
    pthread_mutex_unlock(&target->lock);
}

static void *client(void *arg)
{
    int me = *(int *)arg;
    struct target *target = &targets[me];
    pthread_mutex_lock(&target->lock);
    target->is_open = true;
    pthread_mutex_unlock(&target->lock);
    start(&timers[2 * me], target, 2);
    start(&timers[2 * me + 1], target, 3);
    use(target);
    cancel(&timers[2 * me]);
    cancel(&timers[2 * me + 1]);
    pthread_mutex_lock(&target->lock);
    target->is_open = false;
    pthread_mutex_unlock(&target->lock);
    return NULL;
}

int main(void)
{
    pthread_t threads[CLIENTS + 1];
    int numbers[CLIENTS];
    for (int i = 0; i < CLIENTS; i++) {
        numbers[i] = i;
        pthread_mutex_init(&targets[i].lock, NULL);
        pthread_create(&threads[i], NULL, client, &numbers[i]);
    }
    pthread_create(&threads[CLIENTS], NULL, turn, NULL);
    for (int i = 0; i <= CLIENTS; i++)
        pthread_join(threads[i], NULL);
    return 0;
}
