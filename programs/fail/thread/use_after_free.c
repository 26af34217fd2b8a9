//@ expect: assert
//@ execs: 500
//@ cause: struct request *r = atomic_load(&queue); | struct request *r = atomic_exchange(&queue, NULL); | assert(atomic_load(&r->magic) == ALIVE); | atomic_store(&r->magic, DEAD);
//@ says: queue request.magic T1 T2
// The freeing thread poisons a request that its user has looked up but not yet read.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

struct request {
    atomic_int magic;
};
enum { ALIVE = 0x600d, DEAD = 0xdead };
static _Atomic(struct request *) queue;
static struct request *graveyard; // freed at the very end, so that the bug is a wrong value, not luck

static void *user(void *arg)
{
    (void)arg;
    struct request *r = atomic_load(&queue);
    if (r)
        assert(atomic_load(&r->magic) == ALIVE);
    return NULL;
}

static void *reaper(void *arg)
{
    (void)arg;
    struct request *r = atomic_exchange(&queue, NULL);
    atomic_store(&r->magic, DEAD);
    graveyard = r;
    return NULL;
}

int main(void)
{
    pthread_t a, b;
    struct request *r = calloc(1, sizeof *r);
    atomic_store(&r->magic, ALIVE);
    atomic_store(&queue, r);
    pthread_create(&a, NULL, user, NULL);
    pthread_create(&b, NULL, reaper, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    free(graveyard);
    return 0;
}
