// Experiment 5: a database's connection service (the structure of Apache Derby in the dissertation, Figure 75).
//
// Three connection threads serve requests of 29 kinds. For each kind there is a flag that the server thread
// sets under the lock, and that a connection thread looks at under the lock: 29 branches that an interleaving
// decides. Behind one of them a counter is written without the lock.
#include <pthread.h>
#include <stdio.h>

#define N_FLAGS 29
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int flags[N_FLAGS], counts[N_FLAGS], n_sessions, n_closed;

#define SERVE(k)                                                                                              \
    pthread_mutex_lock(&lock);                                                                                \
    if (flags[k])                                                                                             \
        counts[k]++;                                                                                          \
    pthread_mutex_unlock(&lock);

static void *first(void *arg) {
    SERVE(0) SERVE(1) SERVE(2) SERVE(3) SERVE(4) SERVE(5) SERVE(6) SERVE(7) SERVE(8) SERVE(9)
    return arg;
}

static void *second(void *arg) {
    SERVE(10) SERVE(11) SERVE(12) SERVE(13) SERVE(14) SERVE(15) SERVE(16) SERVE(17) SERVE(18) SERVE(19)
    return arg;
}

static void *third(void *arg) {
    int is_closing;
    SERVE(20) SERVE(21) SERVE(22) SERVE(23) SERVE(24) SERVE(25) SERVE(26) SERVE(27)
    pthread_mutex_lock(&lock);
    is_closing = flags[28];
    pthread_mutex_unlock(&lock);
    if (is_closing)
        n_closed++;
    return arg;
}

static void *server(void *arg) {
    for (int k = 0; k < N_FLAGS; k++) {
        pthread_mutex_lock(&lock);
        flags[k] = 1;
        n_sessions++;
        pthread_mutex_unlock(&lock);
    }
    return arg;
}

static void *shutdown(void *arg) {
    pthread_mutex_lock(&lock);
    n_closed = n_closed + n_sessions;
    pthread_mutex_unlock(&lock);
    return arg;
}

int main(void) {
    pthread_t threads[5];
    void *(*const all[5])(void *) = {first, second, third, server, shutdown};
    for (int i = 0; i < 5; i++)
        pthread_create(&threads[i], 0, all[i], 0);
    for (int i = 0; i < 5; i++)
        pthread_join(threads[i], 0);
    return 0;
}
