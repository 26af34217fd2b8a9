//@ expect: deadlock
//@ execs: 500
//@ cause: if (used == room) | used--;
//@ says: lock T2
// A full queue makes push() call grow(), which takes the lock that push() already holds.
#include <pthread.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int used, room = 1;

static void grow(void)
{
    pthread_mutex_lock(&lock);
    room *= 2;
    pthread_mutex_unlock(&lock);
}

static void *pusher(void *arg)
{
    (void)arg;
    pthread_mutex_lock(&lock);
    if (used == room)
        grow();
    used++;
    pthread_mutex_unlock(&lock);
    pthread_mutex_lock(&lock);
    used--;
    pthread_mutex_unlock(&lock);
    return NULL;
}

int main(void)
{
    pthread_t a, b;
    pthread_create(&a, NULL, pusher, NULL);
    pthread_create(&b, NULL, pusher, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return 0;
}
