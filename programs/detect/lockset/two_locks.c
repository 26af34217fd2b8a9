//@ potential race: a b
//@ execs: 1
// Two locks for one variable. The empty section of the first lock would have to come before the other's, in
// another order than in the one execution: that is not predicted.
#include <pthread.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER, other = PTHREAD_MUTEX_INITIALIZER;
int value;

static void *first(void *arg)
{
    pthread_mutex_lock(&lock);
    value = 1; //= a
    pthread_mutex_unlock(&lock);
    return arg;
}

static void *second(void *arg)
{
    pthread_mutex_lock(&lock);
    pthread_mutex_unlock(&lock);
    pthread_mutex_lock(&other);
    value = 2; //= b
    pthread_mutex_unlock(&other);
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
