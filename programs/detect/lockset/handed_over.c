//@ none
//@ execs: 1
// Written without a lock before it is passed on, then used by the receiver alone.
#include <pthread.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int *slot;

static void *first(void *arg)
{
    static int item;
    item = 1;
    pthread_mutex_lock(&lock);
    slot = &item;
    pthread_mutex_unlock(&lock);
    return arg;
}

static void *second(void *arg)
{
    int *mine;
    pthread_mutex_lock(&lock);
    mine = slot;
    slot = NULL;
    pthread_mutex_unlock(&lock);
    if (mine)
        *mine = 2;
    return arg;
}

int main(void)
{
    pthread_t a, b;
    pthread_create(&a, NULL, first, NULL);
    pthread_create(&b, NULL, second, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return 0;
}
