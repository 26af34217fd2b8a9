/* Threads that lock and unlock: each its own mutex, and with `shared` rounds one that all share.
   Arguments: threads, rounds on the own mutex, rounds on the shared one. */
#include <pthread.h>

#include "meter.h"

static pthread_mutex_t shared = PTHREAD_MUTEX_INITIALIZER;
static long n_own, n_shared;

static void *work(void *arg) {
    pthread_mutex_t *own = arg;
    long done[1] = {0}; /* No hook for it; but who changes nothing is taken to wait. */
    long n_rounds = n_own, n_shared_rounds = n_shared; /* Local: no access, so no hook, in the loop. */
    for (long i = 0; i < n_rounds; i++) {
        pthread_mutex_lock(own);
        __asm__ volatile("incq %0" : "+m"(done[0]));
        pthread_mutex_unlock(own);
        if (i < n_shared_rounds) {
            pthread_mutex_lock(&shared);
            pthread_mutex_unlock(&shared);
        }
    }
    return NULL;
}

int main(int argc, char **argv) {
    long n_threads = number_arg(argc, argv, 1, 2);
    n_own = number_arg(argc, argv, 2, 1000);
    n_shared = number_arg(argc, argv, 3, 0);
    pthread_mutex_t *own = calloc(n_threads, sizeof *own);
    pthread_t *threads = calloc(n_threads, sizeof *threads);
    for (long i = 0; i < n_threads; i++)
        pthread_mutex_init(&own[i], NULL);
    long long start = cpu_ns();
    for (long i = 0; i < n_threads; i++)
        if (pthread_create(&threads[i], NULL, work, &own[i]) != 0)
            return 3;
    for (long i = 0; i < n_threads; i++)
        pthread_join(threads[i], NULL);
    tell(cpu_ns() - start);
    return 0;
}
