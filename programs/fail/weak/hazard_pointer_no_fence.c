//@ expect: assert
//@ execs: 1000
//@ memory-model: tso
//@ cause: atomic_load_explicit(&current | atomic_store(&current
//@ says: current T0 T1
// A hazard pointer without a fence between announcing it and validating it: whoever retires the block does not see the
// announcement yet. x86 does this.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

struct block {
    atomic_int is_live;
};

static struct block blocks[2] = {{1}, {1}};
static _Atomic(struct block *) current = &blocks[0], hazard;

static void *reader(void *arg)
{
    (void)arg;
    struct block *it = atomic_load_explicit(&current, memory_order_acquire);
    atomic_store_explicit(&hazard, it, memory_order_release);
    if (atomic_load_explicit(&current, memory_order_acquire) == it)
        assert(atomic_load_explicit(&it->is_live, memory_order_acquire));
    return NULL;
}

int main(void)
{
    pthread_t t;
    pthread_create(&t, NULL, reader, NULL);
    atomic_store(&current, &blocks[1]);
    if (atomic_load(&hazard) != &blocks[0])
        atomic_store(&blocks[0].is_live, 0);
    pthread_join(t, NULL);
    return 0;
}
