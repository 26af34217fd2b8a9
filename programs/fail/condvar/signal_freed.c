//@ expect: misuse
//@ execs: 300
//@ cause: pthread_cond_signal(&latch->opened); | free(latch);
//@ says: latch.opened T0 T1
// The waiter frees the latch as soon as it sees it open; the opener has yet to signal it.
#include <pthread.h>
#include <stdlib.h>

struct latch {
    pthread_mutex_t lock;
    pthread_cond_t opened;
    int is_open;
};

static void *opener(void *arg)
{
    struct latch *latch = arg;
    pthread_mutex_lock(&latch->lock);
    latch->is_open = 1;
    pthread_mutex_unlock(&latch->lock);
    pthread_cond_signal(&latch->opened);
    return NULL;
}

int main(void)
{
    struct latch *latch = malloc(sizeof *latch);
    pthread_mutex_init(&latch->lock, NULL);
    pthread_cond_init(&latch->opened, NULL);
    latch->is_open = 0;
    pthread_t thread;
    pthread_create(&thread, NULL, opener, latch);
    pthread_mutex_lock(&latch->lock);
    while (!latch->is_open)
        pthread_cond_wait(&latch->opened, &latch->lock);
    pthread_mutex_unlock(&latch->lock);
    free(latch);
    pthread_join(thread, NULL);
    return 0;
}
