/* So many words that two threads share, one after the other, under a lock: what each of them costs.
   Argument: words. */
#include <pthread.h>

#include "meter.h"

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int *words;
static long n_words;

static void *work(void *arg) {
    pthread_mutex_lock(&mutex);
    for (long i = 0; i < n_words; i++)
        words[i]++;
    pthread_mutex_unlock(&mutex);
    return arg;
}

int main(int argc, char **argv) {
    pthread_t one, other;
    n_words = number_arg(argc, argv, 1, 1000);
    words = calloc(n_words, sizeof *words);
    long long start = cpu_ns();
    if (pthread_create(&one, NULL, work, NULL) != 0 || pthread_create(&other, NULL, work, NULL) != 0)
        return 3;
    pthread_join(one, NULL);
    pthread_join(other, NULL);
    tell(cpu_ns() - start);
    return 0;
}
