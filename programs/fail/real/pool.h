/* A pool of connections: the part that a library would have. Included by connection_pool.c. */
#ifndef POOL_H
#define POOL_H

#include <pthread.h>

#define SLOTS 2
#define POOL_LOCK(pool) pthread_mutex_lock(&(pool)->lock)
#define POOL_UNLOCK(pool) pthread_mutex_unlock(&(pool)->lock)

enum slot_state { SLOT_IDLE, SLOT_BUSY };

struct slot {
    enum slot_state state;
    int owner;
};

struct pool {
    pthread_mutex_t lock;
    struct slot slots[SLOTS];
};

/* The index of an idle slot, or -1. */
static int pool_find_idle(struct pool *pool)
{
    int found = -1;
    POOL_LOCK(pool);
    for (int i = 0; i < SLOTS && found < 0; i++)
        if (pool->slots[i].state == SLOT_IDLE)
            found = i;
    POOL_UNLOCK(pool);
    return found;
}

static void pool_take(struct pool *pool, int index, int owner)
{
    POOL_LOCK(pool);
    pool->slots[index].state = SLOT_BUSY;
    pool->slots[index].owner = owner;
    POOL_UNLOCK(pool);
}

static int pool_owner(struct pool *pool, int index)
{
    POOL_LOCK(pool);
    int owner = pool->slots[index].owner;
    POOL_UNLOCK(pool);
    return owner;
}

#endif
