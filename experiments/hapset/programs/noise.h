/* What real programs do besides the bug: locked and atomic accesses that are never wrong. The paper "inserted some
   arbitrary shared memory accesses and locking statements" into its extracted bugs "to make them nontrivial".
   Each thread works on after the bug, so a search that begins at the end of an execution meets this first. */
#include <pthread.h>
#include <stdatomic.h>

enum { NOISE_LOCKS = 2 };

static pthread_mutex_t noise_locks[NOISE_LOCKS] = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER};
static int noise_counts[NOISE_LOCKS];
static atomic_int noise_ticks;

/* Takes a lock of the two in turn, so often. */
static void noise(int n_times)
{
    for (int i = 0; i < n_times; i++) {
        pthread_mutex_lock(&noise_locks[i % NOISE_LOCKS]);
        noise_counts[i % NOISE_LOCKS]++;
        pthread_mutex_unlock(&noise_locks[i % NOISE_LOCKS]);
    }
}

/* Counts without a lock. */
static inline void noise_atomic(int n_times)
{
    for (int i = 0; i < n_times; i++)
        atomic_fetch_add(&noise_ticks, 1);
}

/* Runs all bodies at once, to their ends. */
static inline void run_threads(void *(*const bodies[])(void *), int n_bodies)
{
    pthread_t threads[16];
    for (int i = 0; i < n_bodies; i++)
        pthread_create(&threads[i], NULL, bodies[i], NULL);
    for (int i = 0; i < n_bodies; i++)
        pthread_join(threads[i], NULL);
}

/* A thread that has nothing to do with the bug. */
static inline void *bystander(void *arg)
{
    noise(2);
    noise_atomic(1);
    return arg;
}
