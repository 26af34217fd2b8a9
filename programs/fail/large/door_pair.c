//@ expect: assert
//@ execs: 8000
//@ unsaid: doors T3
// An air lock: one of its two doors is open. A shift opens one and closes the other under locks of their own, in adjacent
// sections; a guard gives alarm only if both air locks stand open on both sides.
#include <assert.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>

enum { LOCKS = 2, SHIFTS = 2, PATROLS = 2, LAMPS = 4 };

struct door {
    pthread_mutex_t inner_lock, outer_lock;
    bool inner, outer;
    int n_shifts;
};

static struct door doors[LOCKS];
static struct {
    pthread_mutex_t lock;
    int brightness;
} lamps[LAMPS];

static void dim(int lamp, int by)
{
    pthread_mutex_lock(&lamps[lamp % LAMPS].lock);
    lamps[lamp % LAMPS].brightness += by;
    pthread_mutex_unlock(&lamps[lamp % LAMPS].lock);
}

static void shift(struct door *door, bool is_open)
{
    pthread_mutex_lock(&door->inner_lock);
    door->inner = is_open;
    pthread_mutex_unlock(&door->inner_lock);
    pthread_mutex_lock(&door->outer_lock);
    door->outer = !is_open;
    door->n_shifts++;
    pthread_mutex_unlock(&door->outer_lock);
}

static bool is_open(pthread_mutex_t *lock, const bool *door)
{
    pthread_mutex_lock(lock);
    bool is = *door;
    pthread_mutex_unlock(lock);
    return is;
}

static bool is_breached(struct door *door)
{
    return is_open(&door->inner_lock, &door->inner) && is_open(&door->outer_lock, &door->outer);
}

static void *attendant(void *arg)
{
    struct door *door = arg;
    for (int i = 0; i < SHIFTS; i++) {
        dim(i, 1);
        dim(i + 1, 1);
        shift(door, true);
        dim(i + 2, -1);
        shift(door, false);
        dim(i + 3, -1);
    }
    return NULL;
}

static void *guard(void *arg)
{
    int me = *(int *)arg;
    for (int i = 0; i < PATROLS; i++) {
        dim(me, 2);
        int n_breached = 0;
        for (int at = 0; at < LOCKS; at++)
            n_breached += is_breached(&doors[at]);
        // One alone is a shift under way.
        assert(n_breached < LOCKS);
    }
    return NULL;
}

int main(void)
{
    pthread_t threads[LOCKS + 1];
    int number = 1;
    for (int i = 0; i < LAMPS; i++)
        pthread_mutex_init(&lamps[i].lock, NULL);
    for (int i = 0; i < LOCKS; i++) {
        pthread_mutex_init(&doors[i].inner_lock, NULL);
        pthread_mutex_init(&doors[i].outer_lock, NULL);
        doors[i].outer = true;
        pthread_create(&threads[i], NULL, attendant, &doors[i]);
    }
    pthread_create(&threads[LOCKS], NULL, guard, &number);
    for (int i = 0; i <= LOCKS; i++)
        pthread_join(threads[i], NULL);
    return 0;
}
