//@ expect: assert
//@ execs: 500
//@ memory-model: c11
//@ cause: &count, 1, memory_order_relaxed | &uses[1 - me]
//@ says: uses T1 T2
// A reference count that is taken down with relaxed order: whoever drops the last reference does not see all uses.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

static atomic_int count = 2, uses[2];

static void *use(void *arg)
{
    int me = (int)(long)arg;
    atomic_store_explicit(&uses[me], 1, memory_order_relaxed);
    if (atomic_fetch_sub_explicit(&count, 1, memory_order_relaxed) == 1)
        assert(atomic_load_explicit(&uses[1 - me], memory_order_relaxed) == 1);
    return NULL;
}

int main(void)
{
    pthread_t t[2];
    for (long i = 0; i < 2; i++)
        pthread_create(&t[i], NULL, use, (void *)i);
    for (int i = 0; i < 2; i++)
        pthread_join(t[i], NULL);
    return 0;
}
