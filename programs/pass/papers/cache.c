//@ expect: pass
//@ execs: 400
// A cache with a fixed number of cells, the oldest of which is evicted; every call is locked. A cleaner evicts old entries
// until a flag stops it that is read without the lock: a harmless race.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

#ifndef USERS
#define USERS 2
#endif
enum { CELLS = 4, ROUNDS = 2 };
struct entry {
    int key, value, used_at;
};
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct entry entries[CELLS];
static int now, n_hits, n_misses;
static atomic_int is_stopped;

static struct entry *find(int key)
{
    for (int i = 0; i < CELLS; i++)
        if (entries[i].used_at > 0 && entries[i].key == key)
            return &entries[i];
    return NULL;
}

static struct entry *oldest(void)
{
    struct entry *oldest = &entries[0];
    for (int i = 1; i < CELLS; i++)
        if (entries[i].used_at < oldest->used_at)
            oldest = &entries[i];
    return oldest;
}

static void put(int key, int value)
{
    pthread_mutex_lock(&lock);
    struct entry *entry = find(key);
    if (!entry)
        entry = oldest();
    *entry = (struct entry){key, value, ++now};
    pthread_mutex_unlock(&lock);
}

static int get(int key, int *value)
{
    pthread_mutex_lock(&lock);
    struct entry *entry = find(key);
    if (entry) {
        *value = entry->value;
        entry->used_at = ++now;
        n_hits++;
    } else {
        n_misses++;
    }
    pthread_mutex_unlock(&lock);
    return entry != NULL;
}

static void *use(void *arg)
{
    int key = (int)(long)arg, value;
    for (int i = 0; i < ROUNDS; i++) {
        put(key, key * key);
        if (get(key, &value))
            assert(value == key * key);
    }
    return NULL;
}

static void *clean(void *arg)
{
    for (int i = 0; i < ROUNDS && !atomic_load_explicit(&is_stopped, memory_order_relaxed); i++) {
        pthread_mutex_lock(&lock);
        oldest()->used_at = 0;
        pthread_mutex_unlock(&lock);
    }
    return arg;
}

int main(void)
{
    pthread_t t[USERS + 1];
    for (long i = 0; i <= USERS; i++)
        pthread_create(&t[i], NULL, i < USERS ? use : clean, (void *)i);
    for (int i = 0; i < USERS; i++)
        pthread_join(t[i], NULL);
    atomic_store_explicit(&is_stopped, 1, memory_order_relaxed);
    pthread_join(t[USERS], NULL);
    assert(n_hits + n_misses == USERS * ROUNDS);
    return 0;
}
