//@ expect: assert
//@ execs: 6000
//@ cause: int n = central.n_free < BATCH ? central.n_free : BATCH; | central.n_free -= n;
//@ says: central.n_free T1 T3
// An allocator with caches for each thread, filled in batches from a central list. The size of a batch is decided before
// the list is locked again to cut it off, since a cache that is full is spilled in between.
#include <assert.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>

enum { BLOCKS = 12, BATCH = 2, CACHE = 2, THREADS = 3, ROUNDS = 5 };

struct block {
    struct block *next;
    int owner;
};

struct cache {
    struct block *slots[CACHE];
    int n_cached;
    int n_hits, n_refills, n_spills;
};

static struct block blocks[BLOCKS];
static struct {
    pthread_mutex_t lock;
    struct block *first;
    int n_free;
} central = {.lock = PTHREAD_MUTEX_INITIALIZER};
static struct {
    pthread_mutex_t lock;
    int n_allocated, n_released, n_failed, peak;
} statistics = {.lock = PTHREAD_MUTEX_INITIALIZER};

static void count(int allocated, int released, int failed)
{
    pthread_mutex_lock(&statistics.lock);
    statistics.n_allocated += allocated;
    statistics.n_released += released;
    statistics.n_failed += failed;
    int in_use = statistics.n_allocated - statistics.n_released;
    if (in_use > statistics.peak)
        statistics.peak = in_use;
    pthread_mutex_unlock(&statistics.lock);
}

static void push_central(struct block *block)
{
    pthread_mutex_lock(&central.lock);
    block->next = central.first;
    central.first = block;
    central.n_free++;
    pthread_mutex_unlock(&central.lock);
}

static int batch_size(void)
{
    pthread_mutex_lock(&central.lock);
    int n = central.n_free < BATCH ? central.n_free : BATCH;
    pthread_mutex_unlock(&central.lock);
    return n;
}

static void cut_off(struct cache *cache, int n)
{
    pthread_mutex_lock(&central.lock);
#ifdef FIXED
    if (n > central.n_free)
        n = central.n_free;
#endif
    central.n_free -= n;
    for (int i = 0; i < n; i++) {
        struct block *block = central.first;
        assert(block != NULL);
        central.first = block->next;
        cache->slots[cache->n_cached++] = block;
    }
    pthread_mutex_unlock(&central.lock);
}

static void refill(struct cache *cache)
{
    int n = batch_size();
    if (n > 0)
        cut_off(cache, n);
    cache->n_refills++;
}

static struct block *allocate(struct cache *cache, int owner)
{
    if (cache->n_cached == 0)
        refill(cache);
    else
        cache->n_hits++;
    if (cache->n_cached == 0) {
        count(0, 0, 1);
        return NULL;
    }
    struct block *block = cache->slots[--cache->n_cached];
    block->owner = owner;
    count(1, 0, 0);
    return block;
}

static void release(struct cache *cache, struct block *block)
{
    block->owner = 0;
    count(0, 1, 0);
    if (cache->n_cached < CACHE) {
        cache->slots[cache->n_cached++] = block;
        return;
    }
    push_central(block);
    cache->n_spills++;
}

static void flush(struct cache *cache)
{
    while (cache->n_cached > 0)
        push_central(cache->slots[--cache->n_cached]);
}

static void *mutate(void *arg)
{
    int me = *(int *)arg;
    struct cache cache = {.n_cached = 0};
    for (int round = 0; round < ROUNDS; round++) {
        struct block *held[3] = {allocate(&cache, me)};
        for (int i = 1; i < 3 && round == 2 * me - 2; i++)
            held[i] = allocate(&cache, me);
        for (int i = 0; i < 3; i++) {
            if (!held[i])
                continue;
            assert(held[i]->owner == me);
            release(&cache, held[i]);
        }
    }
    flush(&cache);
    return NULL;
}

int main(void)
{
    for (int i = 0; i < BLOCKS - 1; i++)
        push_central(&blocks[i]);
    pthread_t threads[THREADS];
    int numbers[THREADS];
    for (int i = 0; i < THREADS; i++) {
        numbers[i] = i + 1;
        pthread_create(&threads[i], NULL, mutate, &numbers[i]);
    }
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    return 0;
}
