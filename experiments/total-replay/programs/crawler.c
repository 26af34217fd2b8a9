// Experiment 4: a crawler (the structure of JoBo in the dissertation, Figure 86).
//
// One thread waits in a loop without an end for the connection that another one opens, and writes down what
// it does, without the lock once there is one.
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int *connection, n_bytes, n_waits, sock = 7;

static void *waiter(void *arg) {
    for (;;) {
        if (connection != 0) {
            n_bytes++;
            return arg;
        }
        pthread_mutex_lock(&lock);
        n_waits++;
        pthread_mutex_unlock(&lock);
        usleep(1000);
    }
}

static void *opener(void *arg) {
    usleep(2500);
    connection = &sock;
    return arg;
}

static void *meter(void *arg) {
    pthread_mutex_lock(&lock);
    n_bytes = n_bytes + 10;
    pthread_mutex_unlock(&lock);
    return arg;
}

int main(void) {
    pthread_t threads[3];
    pthread_create(&threads[0], 0, waiter, 0);
    pthread_create(&threads[1], 0, opener, 0);
    pthread_create(&threads[2], 0, meter, 0);
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], 0);
    return 0;
}
