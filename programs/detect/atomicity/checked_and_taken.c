//@ none
// The stock is checked and taken in one critical section.
#include <pthread.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int stock = 5;

static void *buyer(void *arg)
{
    pthread_mutex_lock(&lock);
    if (stock > 0) {
        stock--;
    }
    pthread_mutex_unlock(&lock);
    return arg;
}

static void *thief(void *arg)
{
    pthread_mutex_lock(&lock);
    stock = 1;
    pthread_mutex_unlock(&lock);
    return arg;
}

int main(void)
{
    pthread_t a, b;
    pthread_create(&a, NULL, buyer, NULL);
    pthread_create(&b, NULL, thief, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return stock < 0;
}
