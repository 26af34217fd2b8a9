//@ expect: pass
//@ execs: 200
// A barrier that turns its sense round; waiters spin a bounded number of times, then yield.
#include <assert.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

enum { THREADS = 3, ROUNDS = 4 };
static atomic_int n_arrived, sense;
static int cells[THREADS];

static void meet(int *own)
{
    *own = !*own;
    if (atomic_fetch_add(&n_arrived, 1) == THREADS - 1) {
        atomic_store(&n_arrived, 0);
        atomic_store(&sense, *own);
        return;
    }
    for (int n_spins = 0; atomic_load(&sense) != *own; n_spins++)
        if (n_spins > 20)
            sched_yield();
}

static void *worker(void *arg)
{
    int me = (int)(long)arg, own = 0;
    for (int round = 0; round < ROUNDS; round++) {
        cells[me]++;
        meet(&own);
        for (int i = 0; i < THREADS; i++)
            assert(cells[i] == round + 1);
        meet(&own);
    }
    return NULL;
}

int main(void)
{
    pthread_t t[THREADS];
    for (long i = 0; i < THREADS; i++)
        pthread_create(&t[i], NULL, worker, (void *)i);
    for (int i = 0; i < THREADS; i++)
        pthread_join(t[i], NULL);
    return 0;
}
