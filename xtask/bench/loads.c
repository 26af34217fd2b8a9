/* Three threads that each load and store one variable, twice: 7,134 classes of schedules. */

#include <pthread.h>
#include <stdatomic.h>

static atomic_int shared;

static void *count_twice(void *arg) {
    for (int i = 0; i < 2; i++) {
        int seen = atomic_load_explicit(&shared, memory_order_relaxed);
        atomic_store_explicit(&shared, seen + 1, memory_order_relaxed);
    }
    return arg;
}

int main(void) {
    pthread_t threads[3];
    for (int i = 0; i < 3; i++) pthread_create(&threads[i], NULL, count_twice, NULL);
    for (int i = 0; i < 3; i++) pthread_join(threads[i], NULL);
    return 0;
}
