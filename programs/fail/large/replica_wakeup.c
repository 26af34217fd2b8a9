//@ expect: deadlock
//@ execs: 4000
//@ cause: atomic_load(&replica->n_waiting) == 0 | atomic_fetch_add(&replica->n_waiting, 1);
//@ says: replicas[2] T3 T4
// Replicas follow a log. The leader wakes a replica only if it says that it waits, and a replica looks at the log before it
// says so: between the two the last entry can come.
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

enum { REPLICAS = 3, ENTRIES = 4, SEGMENTS = 3 };

struct replica {
    pthread_mutex_t lock;
    pthread_cond_t advanced;
    atomic_int n_waiting;
    int applied;
    long state;
};

static struct replica replicas[REPLICAS];
static struct {
    atomic_int committed;
    int entries[ENTRIES];
} journal;
static struct {
    pthread_mutex_t lock;
    int acknowledged[ENTRIES];
} quorum = {.lock = PTHREAD_MUTEX_INITIALIZER};

static struct {
    pthread_mutex_t lock;
    int n_live, n_dead;
} segments[SEGMENTS];

static void acknowledge(int entry)
{
    pthread_mutex_lock(&quorum.lock);
    quorum.acknowledged[entry]++;
    pthread_mutex_unlock(&quorum.lock);
}

static void wake(struct replica *replica)
{
    if (atomic_load(&replica->n_waiting) == 0)
        return;
    pthread_mutex_lock(&replica->lock);
    pthread_cond_signal(&replica->advanced);
    pthread_mutex_unlock(&replica->lock);
}

static void append(int entry, int value)
{
    journal.entries[entry] = value;
    atomic_store(&journal.committed, entry + 1);
    for (int i = 0; i < REPLICAS; i++)
        wake(&replicas[i]);
}

static void compact(void)
{
    for (int i = 0; i < SEGMENTS; i++) {
        pthread_mutex_lock(&segments[i].lock);
        segments[i].n_live -= segments[i].n_dead;
        segments[i].n_dead = 0;
        pthread_mutex_unlock(&segments[i].lock);
    }
}

static void *lead(void *arg)
{
    for (int entry = 0; entry < ENTRIES; entry++) {
        compact();
        append(entry, entry * entry);
        acknowledge(entry);
        compact();
    }
    return arg;
}

static void wait_for_more(struct replica *replica)
{
    pthread_mutex_lock(&replica->lock);
#ifdef FIXED
    atomic_fetch_add(&replica->n_waiting, 1);
    if (atomic_load(&journal.committed) <= replica->applied)
        pthread_cond_wait(&replica->advanced, &replica->lock);
    atomic_fetch_sub(&replica->n_waiting, 1);
#else
    if (atomic_load(&journal.committed) <= replica->applied) {
        atomic_fetch_add(&replica->n_waiting, 1);
        pthread_cond_wait(&replica->advanced, &replica->lock);
        atomic_fetch_sub(&replica->n_waiting, 1);
    }
#endif
    pthread_mutex_unlock(&replica->lock);
}

static void *follow(void *arg)
{
    struct replica *replica = arg;
    while (replica->applied < ENTRIES) {
        wait_for_more(replica);
        while (replica->applied < atomic_load(&journal.committed)) {
            replica->state += journal.entries[replica->applied];
            acknowledge(replica->applied++);
        }
    }
    return NULL;
}

int main(void)
{
    pthread_t threads[REPLICAS + 1];
    for (int i = 0; i < SEGMENTS; i++)
        pthread_mutex_init(&segments[i].lock, NULL);
    for (int i = 0; i < REPLICAS; i++) {
        pthread_mutex_init(&replicas[i].lock, NULL);
        pthread_cond_init(&replicas[i].advanced, NULL);
        pthread_create(&threads[i], NULL, follow, &replicas[i]);
    }
    pthread_create(&threads[REPLICAS], NULL, lead, NULL);
    for (int i = 0; i <= REPLICAS; i++)
        pthread_join(threads[i], NULL);
    return 0;
}
