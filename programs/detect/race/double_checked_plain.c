//@ race: a b
//@ race?: b c
// Double-checked locking, wrong.
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int *instance;
int seen[2]; // what is never looked at would not be read

static int *get(void)
{
    if (!instance) { //= a
        pthread_mutex_lock(&lock);
        if (!instance) {
            int *it = malloc(sizeof *it);
            *it = 42;
            instance = it; //= b
        }
        pthread_mutex_unlock(&lock);
    }
    return instance; //= c
}

static void *first(void *arg)
{
    seen[0] = *get();
    return arg;
}

static void *second(void *arg)
{
    seen[1] = *get();
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
