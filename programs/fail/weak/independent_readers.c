//@ expect: assert
//@ execs: 5000
//@ memory-model: c11
//@ cause: atomic_load_explicit(&flag[me]
//@ says: flag T4 T1
// Two threads that read two flags in opposite orders: with release and acquire they may disagree on which was set first.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

static atomic_int flag[2], is_alone[2];

static void *set(void *arg)
{
    atomic_store_explicit(&flag[(long)arg], 1, memory_order_release);
    return NULL;
}

static void *look(void *arg)
{
    int me = (int)(long)arg;
    if (atomic_load_explicit(&flag[me], memory_order_acquire) && !atomic_load_explicit(&flag[1 - me], memory_order_acquire))
        atomic_store(&is_alone[me], 1);
    return NULL;
}

int main(void)
{
    pthread_t t[4];
    for (long i = 0; i < 2; i++)
        pthread_create(&t[i], NULL, set, (void *)i);
    for (long i = 0; i < 2; i++)
        pthread_create(&t[2 + i], NULL, look, (void *)i);
    for (int i = 0; i < 4; i++)
        pthread_join(t[i], NULL);
    assert(!(atomic_load(&is_alone[0]) && atomic_load(&is_alone[1])));
    return 0;
}
