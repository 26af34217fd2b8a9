// Experiment 3: a network monitor (the structure of jNetMap in the dissertation, Figure 79).
//
// The monitor loops for ever: it sleeps for an interval, which the user interface writes as well, without a
// lock; only if the interval is positive, it counts what it found, without the lock too.
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int ping_interval = -1, n_rounds, n_found, configured;

static void *monitor(void *arg) {
    for (;;) {
        if (ping_interval <= 0) {
            pthread_mutex_lock(&lock);
            n_rounds++;
            pthread_mutex_unlock(&lock);
        } else {
            n_found++;
        }
        ping_interval = -1;
        usleep(1000);
    }
    return arg;
}

static void *interface(void *arg) {
    ping_interval = 5;
    configured = ping_interval;
    return arg;
}

static void *reader(void *arg) {
    usleep(1500);
    n_found = n_found + 1;
    return arg;
}

int main(void) {
    pthread_t threads[3];
    pthread_create(&threads[0], 0, monitor, 0);
    pthread_create(&threads[1], 0, interface, 0);
    pthread_create(&threads[2], 0, reader, 0);
    pthread_join(threads[1], 0);
    pthread_join(threads[2], 0);
    usleep(5000);
    exit(0);
}
