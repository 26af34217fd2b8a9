#include "mailbox.h"

#include <pthread.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t arrived = PTHREAD_COND_INITIALIZER;
static int letter;
static int is_full;

void mailbox_put(int new_letter) {
    pthread_mutex_lock(&mutex);
    letter = new_letter;
    is_full = 1;
    pthread_mutex_unlock(&mutex);
    pthread_cond_signal(&arrived);
}

int mailbox_take(void) {
    pthread_mutex_lock(&mutex);
    int was_full = is_full;
    pthread_mutex_unlock(&mutex);
    // A letter that arrives here wakes nobody.
    pthread_mutex_lock(&mutex);
    if (!was_full) pthread_cond_wait(&arrived, &mutex);
    is_full = 0;
    int taken = letter;
    pthread_mutex_unlock(&mutex);
    return taken;
}
