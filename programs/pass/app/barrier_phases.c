//@ expect: pass
//@ execs: 100
// Heat along a rod in phases, double-buffered, with two kinds of barrier: one of the library, one of
// a counter and a sense that turns round. Every phase must see all of the last one.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

enum { N_THREADS = 3, N_EACH = 2, N_CELLS = N_THREADS * N_EACH, N_PHASES = 3 };

struct spin_barrier {
    _Atomic int n_waiting;
    _Atomic int sense;
};

static void spin_barrier_wait(struct spin_barrier *it, int *sense)
{
    *sense = !*sense;
    if (atomic_fetch_add(&it->n_waiting, 1) + 1 == N_THREADS) {
        atomic_store(&it->n_waiting, 0);
        atomic_store(&it->sense, *sense);
    } else {
        while (atomic_load(&it->sense) != *sense) {
        }
    }
}

static pthread_barrier_t barrier;
static struct spin_barrier spin;
static int heat[2][N_CELLS + 2];
static int n_serial;

static void *run(void *arg)
{
    int first = 1 + (int)(size_t)arg * N_EACH, sense = 0;
    for (int phase = 0; phase < N_PHASES; phase++) {
        int *from = heat[phase % 2], *to = heat[(phase + 1) % 2];
        for (int i = first; i < first + N_EACH; i++)
            to[i] = (from[i - 1] + 2 * from[i] + from[i + 1]) / 4;
        if (phase % 2 == 0) {
            if (pthread_barrier_wait(&barrier) == PTHREAD_BARRIER_SERIAL_THREAD)
                n_serial++;
        } else {
            spin_barrier_wait(&spin, &sense);
        }
    }
    return NULL;
}

int main(void)
{
    int wanted[2][N_CELLS + 2] = { { 0 } };
    pthread_t threads[N_THREADS];
    for (int i = 0; i < N_CELLS + 2; i++)
        heat[0][i] = wanted[0][i] = i * i * 16;
    heat[1][0] = wanted[1][0] = heat[0][0];
    heat[1][N_CELLS + 1] = wanted[1][N_CELLS + 1] = heat[0][N_CELLS + 1];
    for (int phase = 0; phase < N_PHASES; phase++) {
        int *from = wanted[phase % 2], *to = wanted[(phase + 1) % 2];
        for (int i = 1; i <= N_CELLS; i++)
            to[i] = (from[i - 1] + 2 * from[i] + from[i + 1]) / 4;
    }
    assert(pthread_barrier_init(&barrier, NULL, N_THREADS) == 0);
    for (size_t i = 0; i < N_THREADS; i++)
        assert(pthread_create(&threads[i], NULL, run, (void *)i) == 0);
    for (int i = 0; i < N_THREADS; i++)
        pthread_join(threads[i], NULL);
    assert(pthread_barrier_destroy(&barrier) == 0);
    for (int i = 0; i < N_CELLS + 2; i++)
        assert(heat[N_PHASES % 2][i] == wanted[N_PHASES % 2][i]);
    assert(n_serial == (N_PHASES + 1) / 2);
    return 0;
}
