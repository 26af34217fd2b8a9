//@ expect: pass
//@ execs: 200
// Hazard pointers: a reader retries until what it protects is still current; the writer frees what no reader protects,
// and polls for the rest.
#include <assert.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>

enum { READERS = 2, UPDATES = 3 };
static _Atomic(int *) current, hazards[READERS];

static void *reader(void *arg)
{
    _Atomic(int *) *hazard = arg;
    for (int i = 0; i < 3; i++) {
        int *value;
        do {
            value = atomic_load(&current);
            atomic_store(hazard, value);
        } while (atomic_load(&current) != value);
        assert(*value >= 0 && *value <= UPDATES);
        atomic_store(hazard, NULL);
    }
    return NULL;
}

static int is_protected(int *value)
{
    for (int i = 0; i < READERS; i++)
        if (atomic_load(&hazards[i]) == value)
            return 1;
    return 0;
}

int main(void)
{
    pthread_t t[READERS];
    int *value = calloc(1, sizeof *value);
    atomic_store(&current, value);
    for (int i = 0; i < READERS; i++)
        pthread_create(&t[i], NULL, reader, (void *)&hazards[i]);
    for (int i = 1; i <= UPDATES; i++) {
        int *next = malloc(sizeof *next);
        *next = i;
        int *old = atomic_exchange(&current, next);
        for (int n_looks = 1; is_protected(old); n_looks++)
            if (n_looks % 4 == 0)
                sched_yield();
        free(old);
    }
    for (int i = 0; i < READERS; i++)
        pthread_join(t[i], NULL);
    free(atomic_load(&current));
    return 0;
}
