/* Threads that compute, each on memory of its own, and now and then add to what they share, under a lock.
   Arguments: threads, rounds of each. */
#include <pthread.h>
#include <string.h>

#include "meter.h"

enum { N_NUMBERS = 1 << 12, N_BINS = 64 };

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static long bins[N_BINS];
static long n_rounds;

static int is_less(const unsigned *numbers, long a, long b) { return numbers[a] < numbers[b]; }

/* A heap sort, so that accesses are many and the library has no part in it. */
static void sort(unsigned *numbers, long n) {
    for (long start = n / 2 - 1, end = n; end > 1;) {
        if (start >= 0) {
            start--;
        } else {
            end--;
            unsigned last = numbers[end];
            numbers[end] = numbers[0];
            numbers[0] = last;
        }
        for (long root = start + 1; 2 * root + 1 < end;) {
            long child = 2 * root + 1;
            if (child + 1 < end && is_less(numbers, child, child + 1))
                child++;
            if (!is_less(numbers, root, child))
                break;
            unsigned value = numbers[root];
            numbers[root] = numbers[child];
            numbers[child] = value;
            root = child;
        }
    }
}

static void *work(void *arg) {
    unsigned *numbers = malloc(N_NUMBERS * sizeof *numbers);
    unsigned state = (unsigned)(long)arg + 1;
    for (long round = 0; round < n_rounds; round++) {
        for (long i = 0; i < N_NUMBERS; i++)
            numbers[i] = state = state * 1664525u + 1013904223u;
        sort(numbers, N_NUMBERS);
        pthread_mutex_lock(&mutex);
        for (long i = 0; i < N_BINS; i++)
            bins[i] += numbers[i * (N_NUMBERS / N_BINS)] >> 16;
        pthread_mutex_unlock(&mutex);
    }
    free(numbers);
    return NULL;
}

int main(int argc, char **argv) {
    enum { MOST = 64 };
    pthread_t threads[MOST];
    long n_threads = number_arg(argc, argv, 1, 4);
    n_rounds = number_arg(argc, argv, 2, 10);
    long long start = cpu_ns();
    for (long i = 0; i < n_threads && i < MOST; i++)
        if (pthread_create(&threads[i], NULL, work, (void *)i) != 0)
            return 3;
    for (long i = 0; i < n_threads && i < MOST; i++)
        pthread_join(threads[i], NULL);
    tell(cpu_ns() - start);
    return 0;
}
