/* Two threads go over memory byte by byte, each under the lock. Arguments: how often each does; 1 if the memory is the
   same for both, 0 if each has its own. */
#include <pthread.h>

#include "meter.h"

enum { N_BYTES = 16384 };
static unsigned char *blocks[2];
static long n_rounds;
static long long elapsed;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void *work(void *arg) {
    unsigned char *block = arg;
    for (long round = 0; round < n_rounds; round++) {
        pthread_mutex_lock(&mutex);
        long long start = cpu_ns();
        for (int i = 0; i < N_BYTES; i++)
            block[i] += i;
        elapsed += cpu_ns() - start;
        pthread_mutex_unlock(&mutex);
    }
    return arg;
}

int main(int argc, char **argv) {
    pthread_t threads[2];
    n_rounds = number_arg(argc, argv, 1, 10);
    long is_same = number_arg(argc, argv, 2, 1);
    for (int i = 0; i < 2; i++)
        blocks[i] = calloc(N_BYTES, 1);
    for (int i = 0; i < 2; i++)
        if (pthread_create(&threads[i], NULL, work, blocks[is_same ? 0 : i]) != 0)
            return 3;
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    tell(elapsed);
    return 0;
}
