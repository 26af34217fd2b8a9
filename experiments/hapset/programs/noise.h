/* What real programs do besides: accesses that are locked, and never the bug. The paper added such statements
   to its extracted bugs "to make them nontrivial". */
#include <pthread.h>

static pthread_mutex_t noise_lock = PTHREAD_MUTEX_INITIALIZER;
static int noise_count;

static void noise(int n_times)
{
    for (int i = 0; i < n_times; i++) {
        pthread_mutex_lock(&noise_lock);
        noise_count++;
        pthread_mutex_unlock(&noise_lock);
    }
}

/* Runs all bodies at once, to their ends. */
static void run_threads(void *(*const bodies[])(void *), int n_bodies)
{
    pthread_t threads[16];
    for (int i = 0; i < n_bodies; i++)
        pthread_create(&threads[i], NULL, bodies[i], NULL);
    for (int i = 0; i < n_bodies; i++)
        pthread_join(threads[i], NULL);
}
