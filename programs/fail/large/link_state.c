//@ expect: assert
//@ execs: 4000
//@ unnamed: link->cost = cost; | link->sequence++; | copy->costs[i] = link->cost;
//@ undetected: four links with locks of their own; nothing says that two of them belong together
//@ unsaid: cost
// Routers flood the state of their links. An update writes the cost of a link and then its sequence number, in one step
// each; a copy of the table asks for all numbers, for all costs, and for all numbers again.
#include <assert.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>

enum { ROUTERS = 3, LINKS = 4, UPDATES = 3, UP = 10, DOWN = 1000 };

struct link {
    pthread_mutex_t cost_lock;
    int cost;
    pthread_mutex_t sequence_lock;
    unsigned sequence;
};

struct copy {
    int costs[LINKS];
    unsigned sequences[LINKS];
};

static struct link links[LINKS];
static pthread_mutex_t floods[ROUTERS];
static int n_floods[ROUTERS];

static void flood(int router)
{
    for (int to = 0; to < ROUTERS; to++) {
        if (to == router)
            continue;
        pthread_mutex_lock(&floods[to]);
        n_floods[to]++;
        pthread_mutex_unlock(&floods[to]);
    }
}

static void update(struct link *link, int cost)
{
    pthread_mutex_lock(&link->cost_lock);
    link->cost = cost;
    pthread_mutex_unlock(&link->cost_lock);
    pthread_mutex_lock(&link->sequence_lock);
    link->sequence++;
    pthread_mutex_unlock(&link->sequence_lock);
}

static unsigned sequence_of(struct link *link)
{
    pthread_mutex_lock(&link->sequence_lock);
    unsigned sequence = link->sequence;
    pthread_mutex_unlock(&link->sequence_lock);
    return sequence;
}

static bool copy_table(struct copy *copy)
{
    for (int i = 0; i < LINKS; i++)
        copy->sequences[i] = sequence_of(&links[i]);
    for (int i = 0; i < LINKS; i++) {
        struct link *link = &links[i];
        pthread_mutex_lock(&link->cost_lock);
        copy->costs[i] = link->cost;
        pthread_mutex_unlock(&link->cost_lock);
    }
    for (int i = 0; i < LINKS; i++)
        if (copy->sequences[i] != sequence_of(&links[i]))
            return false;
    return true;
}

// A path of both links is up or down as a whole: the two are set one after the other.
static void set_path(int first, bool is_up)
{
    int cost = is_up ? UP : DOWN;
    update(&links[first], cost);
    update(&links[first + 1], cost);
}

static void *router(void *arg)
{
    int me = *(int *)arg;
    for (int i = 0; i < UPDATES; i++) {
        flood(me);
        if (me == 0 && i == 1)
            set_path(2, false);
        else if (me == 1)
            update(&links[0], UP + i);
        else if (me == 0)
            update(&links[1], UP + i);
        flood(me);
    }
    return NULL;
}

static void *path_finder(void *arg)
{
    struct copy copy;
    for (int i = 0; i < 3; i++) {
        if (!copy_table(&copy))
            continue;
        // Links of one path are equal, unless the numbers tell of a change.
        if (copy.sequences[2] == copy.sequences[3])
            assert(copy.costs[2] == copy.costs[3]);
    }
    return arg;
}

int main(void)
{
    for (int i = 0; i < LINKS; i++) {
        pthread_mutex_init(&links[i].cost_lock, NULL);
        pthread_mutex_init(&links[i].sequence_lock, NULL);
        links[i].cost = UP;
    }
    pthread_t threads[ROUTERS + 1];
    int numbers[ROUTERS];
    for (int i = 0; i < ROUTERS; i++)
        pthread_mutex_init(&floods[i], NULL);
    for (int i = 0; i < ROUTERS; i++) {
        numbers[i] = i;
        pthread_create(&threads[i], NULL, router, &numbers[i]);
    }
    pthread_create(&threads[ROUTERS], NULL, path_finder, NULL);
    for (int i = 0; i <= ROUTERS; i++)
        pthread_join(threads[i], NULL);
    return 0;
}
