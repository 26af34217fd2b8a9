//@ atomicity: a b c
// The stock is checked in one critical section and taken in another: another thread may take it in between.
#include <pthread.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int stock = 5;

static void *buyer(void *arg)
{
    pthread_mutex_lock(&lock);
    int n = stock; //= a
    pthread_mutex_unlock(&lock);
    if (n > 0) {
        pthread_mutex_lock(&lock);
        stock--; //= c
        pthread_mutex_unlock(&lock);
    }
    return arg;
}

static void *thief(void *arg)
{
    pthread_mutex_lock(&lock);
    stock = 1; //= b
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
