//@ expect: assert
//@ execs: 500
//@ cause: assert(theirs->n_changes == n_changes); | set->n_changes++;
//@ says: theirs_all.n_changes T1 T2
// Sets behind locks, as a wrapper makes them: every call holds the lock of its set. "Does this one contain all of that one?"
// holds the lock of this one, and goes through that one, which somebody else may change meanwhile.
#include <assert.h>
#include <pthread.h>

#ifndef THREADS
#define THREADS 2
#endif
enum { CELLS = 8, EMPTY = -1 };
static struct set {
    pthread_mutex_t lock;
    int cells[CELLS];
    volatile int n_changes;
} ours, theirs_all;

static int *find(struct set *set, int number)
{
    int *cell = &set->cells[number % CELLS];
    return *cell == number || *cell == EMPTY ? cell : NULL;
}

static void add(struct set *set, int number)
{
    pthread_mutex_lock(&set->lock);
    int *cell = find(set, number);
    if (cell) {
        *cell = number;
        set->n_changes++;
    }
    pthread_mutex_unlock(&set->lock);
}

static int contains_all(struct set *set, struct set *theirs)
{
    int is_all = 1;
    pthread_mutex_lock(&set->lock);
    int n_changes = theirs->n_changes;
    for (int i = 0; i < CELLS; i++) {
        int number = theirs->cells[i];
        if (number == EMPTY)
            continue;
        assert(theirs->n_changes == n_changes); // modified while somebody goes through it
        int *cell = find(set, number);
        is_all &= cell && *cell == number;
    }
    pthread_mutex_unlock(&set->lock);
    return is_all;
}

static void *compare(void *arg)
{
    contains_all(&ours, &theirs_all);
    return arg;
}

static void *change(void *arg)
{
    add(&theirs_all, 3);
    return arg;
}

int main(void)
{
    pthread_t t[THREADS];
    pthread_mutex_init(&ours.lock, NULL);
    pthread_mutex_init(&theirs_all.lock, NULL);
    for (int i = 0; i < CELLS; i++)
        ours.cells[i] = theirs_all.cells[i] = EMPTY;
    add(&ours, 1);
    add(&theirs_all, 1);
    add(&theirs_all, 5);
    for (int i = 0; i < THREADS; i++)
        pthread_create(&t[i], NULL, i % 2 ? change : compare, NULL);
    for (int i = 0; i < THREADS; i++)
        pthread_join(t[i], NULL);
    return 0;
}
