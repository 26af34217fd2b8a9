//@ expect: assert
//@ execs: 500
//@ cause: stats->hits++; | stats->lookups++; | int hits = stats->hits;
//@ says: hits lookups T1 T2
// Statistics behind a table of functions: a lookup counts itself in two critical sections, and a reader comes in between.
#include <assert.h>
#include <pthread.h>
#include <stddef.h>

struct stats {
    pthread_mutex_t lock;
    int hits, lookups;
};

struct ops {
    void (*lookup)(struct stats *stats);
    void (*check)(struct stats *stats);
};

static void counted_lookup(struct stats *stats)
{
    pthread_mutex_lock(&stats->lock);
    stats->hits++;
    pthread_mutex_unlock(&stats->lock);
    pthread_mutex_lock(&stats->lock);
    stats->lookups++;
    pthread_mutex_unlock(&stats->lock);
}

static void check(struct stats *stats)
{
    pthread_mutex_lock(&stats->lock);
    int hits = stats->hits;
    int lookups = stats->lookups;
    pthread_mutex_unlock(&stats->lock);
    assert(hits <= lookups);
}

static const struct ops ops = {counted_lookup, check};
static struct stats stats = {.lock = PTHREAD_MUTEX_INITIALIZER};

static void *server(void *arg)
{
    ops.lookup(&stats);
    return arg;
}

static void *monitor(void *arg)
{
    ops.check(&stats);
    return arg;
}

int main(void)
{
    pthread_t threads[2];
    pthread_create(&threads[0], NULL, server, NULL);
    pthread_create(&threads[1], NULL, monitor, NULL);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    return 0;
}
