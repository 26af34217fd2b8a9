// Experiment 2: a terminal client (the structure of JTelnet in the dissertation, Figure 70).
//
// The branches of the protocol thread depend on what it has read itself. What the user interface and the
// receiver share is passed on, and decides nothing; one field is written by both without a lock.
#include <pthread.h>
#include <stdio.h>

static const unsigned char stream[] = "\xff\xfd\x18ready\r\n\xff\xfa\x18\x01\xff\xf0login: ";
static int cursor_column, cursor_row, last_key, shown, n_options;
static char screen[80];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *protocol(void *arg) {
    int state = 0;
    for (unsigned i = 0; i < sizeof stream - 1; i++) {
        unsigned char c = stream[i];
        if (state == 0 && c == 0xff) {
            state = 1;
        } else if (state == 1) {
            n_options++;
            state = c == 0xfa ? 2 : 3;
        } else if (state == 2) {
            if (c == 0xf0)
                state = 0;
        } else if (state == 3) {
            state = 0;
        } else {
            pthread_mutex_lock(&lock);
            screen[i] = (char)c;
            cursor_column = (int)i;
            pthread_mutex_unlock(&lock);
        }
    }
    return arg;
}

static void *events(void *arg) {
    for (int key = 'a'; key < 'e'; key++) {
        last_key = key;
        pthread_mutex_lock(&lock);
        cursor_row = cursor_column + key;
        pthread_mutex_unlock(&lock);
    }
    return arg;
}

static void *painter(void *arg) {
    for (int i = 0; i < 3; i++) {
        pthread_mutex_lock(&lock);
        shown = cursor_row + cursor_column;
        pthread_mutex_unlock(&lock);
    }
    shown += last_key;
    return arg;
}

int main(void) {
    pthread_t threads[3];
    pthread_create(&threads[0], 0, protocol, 0);
    pthread_create(&threads[1], 0, events, 0);
    pthread_create(&threads[2], 0, painter, 0);
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], 0);
    return 0;
}
