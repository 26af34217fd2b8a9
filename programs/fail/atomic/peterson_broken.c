//@ expect: assert
//@ execs: 3000
//@ cause: atomic_store(&interested[me], 1); | while (atomic_load(&interested[other])
//@ says: inside T1 T2
// Peterson's lock with its two first lines swapped: the turn is given away before interest is shown.
#include <assert.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdint.h>

static atomic_int interested[2], turn, inside;

static void *contender(void *arg)
{
    int me = (int)(intptr_t)arg, other = 1 - me;
    atomic_store(&turn, other);
    atomic_store(&interested[me], 1);
    while (atomic_load(&interested[other]) && atomic_load(&turn) == other)
        sched_yield();
    assert(atomic_fetch_add(&inside, 1) == 0);
    atomic_fetch_sub(&inside, 1);
    atomic_store(&interested[me], 0);
    return NULL;
}

int main(void)
{
    pthread_t t[2];
    for (int i = 0; i < 2; i++)
        pthread_create(&t[i], NULL, contender, (void *)(intptr_t)i);
    for (int i = 0; i < 2; i++)
        pthread_join(t[i], NULL);
    return 0;
}
