//@ race: a b
// Each thread uses a lock of its own.
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

static pthread_mutex_t one = PTHREAD_MUTEX_INITIALIZER, other = PTHREAD_MUTEX_INITIALIZER;
static int count;

static void *first(void *arg)
{
    pthread_mutex_lock(&one);
    count++; //= a
    pthread_mutex_unlock(&one);
    return arg;
}

static void *second(void *arg)
{
    pthread_mutex_lock(&other);
    count++; //= b
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
