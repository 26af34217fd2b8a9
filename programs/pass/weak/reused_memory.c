//@ expect: pass
//@ execs: 2000
//@ memory-model: c11
// A flag in memory that is freed and used again: a new one never reads what was stored to the old one.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

static void *set(void *arg)
{
    atomic_int *flag = arg;
    int was = atomic_load_explicit(flag, memory_order_relaxed);
    assert(was == 0 || was == 2);
    atomic_store_explicit(flag, 1, memory_order_relaxed);
    return NULL;
}

int main(void)
{
    for (int round = 0; round < 3; round++) {
        pthread_t t;
        atomic_int *flag = malloc(sizeof *flag);
        atomic_init(flag, 0);
        pthread_create(&t, NULL, set, flag);
        atomic_store_explicit(flag, 2, memory_order_relaxed);
        pthread_join(t, NULL);
        int now = atomic_load_explicit(flag, memory_order_relaxed);
        assert(now == 1 || now == 2);
        free(flag);
    }
    return 0;
}
