//@ expect: pass
//@ execs: 100
// A thread that finds the slot full increments and decrements a counter before it retries: a cycle of five accesses.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

enum { ITEMS = 100 };
static atomic_int slot, alive, first, second;

static int push(int item)
{
    int empty = 0;
    atomic_fetch_add(&alive, 1);
    int limit = atomic_load(&first) + atomic_load(&second);
    if (limit == 0 && atomic_compare_exchange_strong(&slot, &empty, item))
        return 1;
    atomic_fetch_sub(&alive, 1);
    return 0;
}

static void *take(void *arg)
{
    for (int item = 1; item <= ITEMS; item++) {
        while (atomic_load(&slot) == 0)
            ;
        assert(atomic_exchange(&slot, 0) == item);
        atomic_fetch_sub(&alive, 1);
    }
    return arg;
}

int main(void)
{
    pthread_t thread;
    pthread_create(&thread, NULL, take, NULL);
    for (int item = 1; item <= ITEMS; item++)
        while (!push(item))
            ;
    pthread_join(thread, NULL);
    assert(alive == 0);
    return 0;
}
