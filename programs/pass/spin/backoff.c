//@ expect: pass
//@ execs: 100
// A ticket lock whose waiters back off: they spin ever longer, then yield, and count all of it.
#include <assert.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

static atomic_int next_ticket, serving, n_spins, n_yields;
static int count;

static void *add(void *arg)
{
    for (int i = 0; i < 5; i++) {
        int ticket = atomic_fetch_add(&next_ticket, 1);
        for (int round = 0; atomic_load(&serving) != ticket; round++) {
            for (int spin = 0; spin < 1 << (round < 6 ? round : 6); spin++)
                atomic_fetch_add_explicit(&n_spins, 1, memory_order_relaxed);
            if (round >= 6) {
                atomic_fetch_add_explicit(&n_yields, 1, memory_order_relaxed);
                sched_yield();
            }
        }
        count++;
        atomic_store(&serving, ticket + 1);
    }
    return arg;
}

int main(void)
{
    pthread_t threads[3];
    for (int i = 0; i < 3; i++)
        pthread_create(&threads[i], NULL, add, NULL);
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], NULL);
    assert(count == 15);
    return 0;
}
