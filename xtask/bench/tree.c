/* A long way that all schedules have in common, and a small tree at its end: what a systematic search makes
   of a program that prepares its data with threads before it gets to the point. */

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

static atomic_int prepared;
static volatile int counter;

static void *prepare(void *arg) {
    long n_steps = *(long *)arg;
    for (long i = 0; i < n_steps; i++) atomic_fetch_add(&prepared, 1);
    return NULL;
}

static void *count(void *arg) {
    counter = counter + 1;
    return arg;
}

int main(int argc, char **argv) {
    long n_steps = argc > 1 ? atol(argv[1]) : 20000;
    pthread_t thread, counters[3];
    pthread_create(&thread, NULL, prepare, &n_steps);
    pthread_join(thread, NULL);
    for (int i = 0; i < 3; i++) pthread_create(&counters[i], NULL, count, NULL);
    for (int i = 0; i < 3; i++) pthread_join(counters[i], NULL);
    return 0;
}
