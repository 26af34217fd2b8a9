//@ expect: assert
//@ execs: 4000
//@ cause: atomic_fetch_add(&config->n_borrowers, 1); | atomic_load(&slots[i].n_borrowers) == 0 | atomic_store(&config->generation, -1);
//@ says: n_borrowers T2 T4
// Workers borrow the current configuration and count themselves only after they have let go of the lock. A reload that
// comes in between finds no borrower; the block is used again for the next reload.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

enum { SLOTS = 3, OPTIONS = 6, WORKERS = 3, REQUESTS = 3, RELOADS = 3 };

struct config {
    atomic_int n_borrowers;
    atomic_int generation;
    int options[OPTIONS];
};

static struct config slots[SLOTS];
static struct config *current = &slots[0];
static pthread_rwlock_t current_lock = PTHREAD_RWLOCK_INITIALIZER;

static struct {
    pthread_mutex_t lock;
    int n_requests, n_slow, checksum;
    int by_option[OPTIONS];
} metrics = {.lock = PTHREAD_MUTEX_INITIALIZER};

static struct config *borrow(void)
{
    pthread_rwlock_rdlock(&current_lock);
    struct config *config = current;
#ifdef FIXED
    atomic_fetch_add(&config->n_borrowers, 1);
#endif
    pthread_rwlock_unlock(&current_lock);
#ifndef FIXED
    atomic_fetch_add(&config->n_borrowers, 1);
#endif
    return config;
}

static void give_back(struct config *config)
{
    atomic_fetch_sub(&config->n_borrowers, 1);
}

static struct config *free_slot(void)
{
    for (int i = 0; i < SLOTS; i++)
        if (&slots[i] != current && atomic_load(&slots[i].n_borrowers) == 0)
            return &slots[i];
    return NULL;
}

static void count(int option, int value)
{
    pthread_mutex_lock(&metrics.lock);
    metrics.n_requests++;
    metrics.by_option[option]++;
    metrics.checksum ^= value;
    pthread_mutex_unlock(&metrics.lock);
}

static void handle(int request)
{
    struct config *config = borrow();
    int generation = atomic_load(&config->generation);
    assert(generation >= 0);
    for (int i = 0; i < 2; i++) {
        int option = (request + i) % OPTIONS;
        count(option, config->options[option]);
    }
    give_back(config);
}

static void *work(void *arg)
{
    for (int i = 0; i < REQUESTS; i++)
        handle(i * WORKERS);
    return arg;
}

static void parse(struct config *config, int generation)
{
    atomic_store(&config->generation, -1);
    for (int i = 0; i < OPTIONS; i++)
        config->options[i] = generation * 10 + i;
    atomic_store(&config->generation, generation);
}

static void *reload(void *arg)
{
    for (int generation = 1; generation <= RELOADS; generation++) {
        pthread_mutex_lock(&metrics.lock);
        bool is_quiet = metrics.n_slow == 0;
        pthread_mutex_unlock(&metrics.lock);
        struct config *next = is_quiet ? free_slot() : NULL;
        if (!next)
            continue;
        parse(next, generation);
        pthread_rwlock_wrlock(&current_lock);
        current = next;
        pthread_rwlock_unlock(&current_lock);
    }
    return arg;
}

int main(void)
{
    pthread_t threads[WORKERS + 1];
    parse(&slots[0], 0);
    for (int i = 0; i < WORKERS; i++)
        pthread_create(&threads[i], NULL, work, NULL);
    pthread_create(&threads[WORKERS], NULL, reload, NULL);
    for (int i = 0; i <= WORKERS; i++)
        pthread_join(threads[i], NULL);
    return 0;
}
