//@ race: a b
//@ race?: b c
//@ race?: made one
//@ race?: made other
// Double-checked locking, wrong: neither the pointer nor what it points to is published.
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
            *it = 42; //= made
            instance = it; //= b
        }
        pthread_mutex_unlock(&lock);
    }
    return instance; //= c
}

static void *first(void *arg)
{
    seen[0] = *get(); //= one
    return arg;
}

static void *second(void *arg)
{
    seen[1] = *get(); //= other
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
