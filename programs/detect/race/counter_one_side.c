//@ race: a b
// One thread does not lock.
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int count;
int seen; // what is never looked at would not be read

static void *first(void *arg)
{
    pthread_mutex_lock(&lock);
    count++; //= a
    pthread_mutex_unlock(&lock);
    return arg;
}

static void *second(void *arg)
{
    seen = count; //= b
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
