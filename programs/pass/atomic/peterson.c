//@ expect: pass
//@ execs: 200
// Peterson's lock with sequentially consistent atomics, spinning without a yield.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>

static atomic_int interested[2], turn;
static int inside, visits;

static void *contender(void *arg)
{
    int me = (int)(intptr_t)arg, other = 1 - me;
    for (int i = 0; i < 2; i++) {
        atomic_store(&interested[me], 1);
        atomic_store(&turn, other);
        while (atomic_load(&interested[other]) && atomic_load(&turn) == other)
            ;
        assert(inside++ == 0);
        visits++;
        inside--;
        atomic_store(&interested[me], 0);
    }
    return NULL;
}

int main(void)
{
    pthread_t t[2];
    for (int i = 0; i < 2; i++)
        pthread_create(&t[i], NULL, contender, (void *)(intptr_t)i);
    for (int i = 0; i < 2; i++)
        pthread_join(t[i], NULL);
    assert(visits == 4);
    return 0;
}
