/* Three threads that each load and store one variable, twice: 7,134 classes of schedules. */

#include <pthread.h>
#include <raddle.h>
#include <stdatomic.h>

static atomic_int shared;

static void *count_twice(void *arg) {
    for (int i = 0; i < 2; i++) {
        int seen = atomic_load_explicit(&shared, memory_order_relaxed);
        atomic_store_explicit(&shared, seen + 1, memory_order_relaxed);
    }
    return arg;
}

static void count(void *arg) {
    pthread_t threads[3];
    atomic_store_explicit(&shared, 0, memory_order_relaxed);
    for (int i = 0; i < 3; i++) pthread_create(&threads[i], NULL, count_twice, arg);
    for (int i = 0; i < 3; i++) pthread_join(threads[i], NULL);
}

int main(void) {
    raddle_check(count, NULL);
    return 0;
}
