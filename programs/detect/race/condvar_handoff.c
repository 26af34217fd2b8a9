//@ none
// Handed over by a condition variable.
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t ready = PTHREAD_COND_INITIALIZER;
static int is_ready, data;
int seen; // what is never looked at would not be read

static void *first(void *arg)
{
    pthread_mutex_lock(&lock);
    data = 42;
    is_ready = 1;
    pthread_cond_signal(&ready);
    pthread_mutex_unlock(&lock);
    return arg;
}

static void *second(void *arg)
{
    pthread_mutex_lock(&lock);
    while (!is_ready)
        pthread_cond_wait(&ready, &lock);
    pthread_mutex_unlock(&lock);
    seen = data;
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
