//@ expect: assert
//@ execs: 500
//@ cause: int index = pool_find_idle(&pool); | pool_take(&pool, index, me);
//@ says: T1 T2 both read state
// A connection is looked for in one critical section and taken in the next, by wrappers in a header.
#include <assert.h>
#include <pthread.h>
#include <stdint.h>
#include <stddef.h>
#include "pool.h"

static struct pool pool = {.lock = PTHREAD_MUTEX_INITIALIZER};

static void *client(void *arg)
{
    int me = (int)(intptr_t)arg;
    int index = pool_find_idle(&pool);
    if (index < 0)
        return NULL;
    pool_take(&pool, index, me);
    assert(pool_owner(&pool, index) == me);
    return NULL;
}

int main(void)
{
    pthread_t clients[2];
    for (int i = 0; i < 2; i++)
        pthread_create(&clients[i], NULL, client, (void *)(intptr_t)(i + 1));
    for (int i = 0; i < 2; i++)
        pthread_join(clients[i], NULL);
    return 0;
}
