//@ none
//@ execs: 1
// Two locks in both orders, but the second is acquired with trylock: no deadlock.
#include <pthread.h>

static pthread_mutex_t left = PTHREAD_MUTEX_INITIALIZER, right = PTHREAD_MUTEX_INITIALIZER;

static void *first(void *arg)
{
    pthread_mutex_lock(&left);
    pthread_mutex_lock(&right);
    pthread_mutex_unlock(&right);
    pthread_mutex_unlock(&left);
    return arg;
}

static void *second(void *arg)
{
    pthread_mutex_lock(&right);
    if (pthread_mutex_trylock(&left) == 0)
        pthread_mutex_unlock(&left);
    pthread_mutex_unlock(&right);
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
