/* Plain reads and writes of memory that one thread alone touches, while another one waits: accesses are
   looked at only where there are threads. Argument: how many accesses. */
#include <pthread.h>

#include "meter.h"

enum { N_WORDS = 4096 };
static long words[N_WORDS];

__attribute__((noinline)) static long touch(long n_pairs) {
    long sum = 0;
    for (long i = 0; i < n_pairs; i++) {
        sum += words[i % N_WORDS];
        words[(i + 1) % N_WORDS] = i;
    }
    return sum;
}

static pthread_mutex_t held = PTHREAD_MUTEX_INITIALIZER;

static void *wait_for_it(void *unused) {
    pthread_mutex_lock(&held);
    pthread_mutex_unlock(&held);
    return unused;
}

int main(int argc, char **argv) {
    long n_accesses = number_arg(argc, argv, 1, 1000000);
    pthread_t other;
    pthread_mutex_lock(&held);
    if (pthread_create(&other, NULL, wait_for_it, NULL) != 0)
        return 3;
    touch(N_WORDS);
    long long start = cpu_ns();
    long sum = touch(n_accesses / 2);
    long long elapsed = cpu_ns() - start;
    tell(elapsed);
    pthread_mutex_unlock(&held);
    pthread_join(other, NULL);
    return sum == 1;
}
