//@ expect: assert
//@ execs: 8000
//@ cause: set(&gauges[at].low, value); | n_torn += is_torn(&gauges[at]);
//@ says: gauges[2].low T3 T4
//@ undetected: single atomic writes to six variables; nothing says which of them belong together
// Gauges with a lower and an upper end, each an atomic. A writer moves both, one right after the other; a reader that falls
// between the two of all its gauges at once sees bounds that do not fit, in a window of one step each.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

enum { GAUGES = 3, WRITERS = 3, MOVES = 2, SPAN = 10, LOOKS = 3 };

struct gauge {
    atomic_int low, high;
};

static struct gauge gauges[GAUGES];
static struct {
    pthread_mutex_t lock;
    int n_moves, n_looks;
} tally = {.lock = PTHREAD_MUTEX_INITIALIZER};

static void set(atomic_int *end, int value)
{
    atomic_store(end, value);
}

static void count(int *counter)
{
    pthread_mutex_lock(&tally.lock);
    (*counter)++;
    pthread_mutex_unlock(&tally.lock);
}

static void move_gauge(int at, int value)
{
    count(&tally.n_moves);
    set(&gauges[at].low, value);
    set(&gauges[at].high, value + SPAN);
    count(&tally.n_moves);
}

static bool is_torn(struct gauge *gauge)
{
    int low = atomic_load(&gauge->low);
    return atomic_load(&gauge->high) - low != SPAN;
}

static void *writer(void *arg)
{
    int me = *(int *)arg;
    for (int i = 1; i <= MOVES; i++)
        move_gauge(me, i * 3);
    return NULL;
}

static void *reader(void *arg)
{
    for (int i = 0; i < LOOKS; i++) {
        int n_torn = 0;
        for (int at = 0; at < WRITERS; at++)
            n_torn += is_torn(&gauges[at]);
        // Some that move are tolerated.
        assert(n_torn < WRITERS);
        count(&tally.n_looks);
    }
    return arg;
}

int main(void)
{
    pthread_t threads[WRITERS + 1];
    int numbers[WRITERS];
    for (int i = 0; i < GAUGES; i++)
        set(&gauges[i].high, SPAN);
    for (int i = 0; i < WRITERS; i++) {
        numbers[i] = i;
        pthread_create(&threads[i], NULL, writer, &numbers[i]);
    }
    pthread_create(&threads[WRITERS], NULL, reader, NULL);
    for (int i = 0; i <= WRITERS; i++)
        pthread_join(threads[i], NULL);
    return 0;
}
