//@ expect: assert
//@ execs: 1000
//@ memory-model: tso
//@ unnamed: atomic_store_explicit(&turn, 1 - me
//@ says: flag T1 T2
// Peterson's lock with release and acquire: each thread's stores are still in its buffer when it looks at the other's flag.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

static atomic_int flag[2], turn, inside;

static void *visit(void *arg)
{
    int me = (int)(long)arg;
    atomic_store_explicit(&flag[me], 1, memory_order_release);
    atomic_store_explicit(&turn, 1 - me, memory_order_release);
    if (!atomic_load_explicit(&flag[1 - me], memory_order_acquire) ||
        atomic_load_explicit(&turn, memory_order_acquire) == me) {
        assert(atomic_fetch_add(&inside, 1) == 0);
        atomic_fetch_sub(&inside, 1);
    }
    atomic_store_explicit(&flag[me], 0, memory_order_release);
    return NULL;
}

int main(void)
{
    pthread_t t[2];
    for (long i = 0; i < 2; i++)
        pthread_create(&t[i], NULL, visit, (void *)i);
    for (int i = 0; i < 2; i++)
        pthread_join(t[i], NULL);
    return 0;
}
