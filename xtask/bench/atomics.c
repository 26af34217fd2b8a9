/* Threads that load, store and add, with weak orders, on one location or on several.
   Arguments: threads, rounds, locations. */
#include <pthread.h>
#include <stdatomic.h>

#include "meter.h"

#define N_MAX 64
static atomic_long cells[N_MAX];
static long n_rounds, n_cells;

static void *work(void *arg) {
    long n = n_rounds, n_all = n_cells; /* Local: no access, so no hook, in the loop. */
    for (long i = 0; i < n; i++) {
        atomic_long *cell = &cells[i % n_all];
        atomic_store_explicit(cell, i, memory_order_release);
        atomic_load_explicit(&cells[(i + 1) % n_all], memory_order_acquire);
        atomic_fetch_add_explicit(cell, 1, memory_order_relaxed);
        atomic_load_explicit(cell, memory_order_relaxed);
    }
    return arg;
}

int main(int argc, char **argv) {
    long n_threads = number_arg(argc, argv, 1, 2);
    n_rounds = number_arg(argc, argv, 2, 1000);
    n_cells = number_arg(argc, argv, 3, 4);
    pthread_t *threads = calloc(n_threads, sizeof *threads);
    long long start = cpu_ns();
    for (long i = 0; i < n_threads; i++)
        if (pthread_create(&threads[i], NULL, work, NULL) != 0)
            return 3;
    for (long i = 0; i < n_threads; i++)
        pthread_join(threads[i], NULL);
    tell(cpu_ns() - start);
    return 0;
}
