//@ expect: assert
//@ execs: 500
//@ flags: -std=c11
//@ cause: int mine = atomic_load(&tickets); | atomic_store(&tickets, mine + 1);
//@ says: tickets T1 T2
// Atomic load and atomic store are no atomic increment.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

static atomic_int tickets;

static void *visitor(void *arg)
{
    (void)arg;
    for (int i = 0; i < 2; i++) {
        int mine = atomic_load(&tickets);
        atomic_store(&tickets, mine + 1);
    }
    return NULL;
}

int main(void)
{
    pthread_t a, b;
    pthread_create(&a, NULL, visitor, NULL);
    pthread_create(&b, NULL, visitor, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    assert(atomic_load(&tickets) == 4);
    return 0;
}
