//@ race: a b
//@ fails: misuse
//@ tsan: differs: it calls it heap-use-after-free, or nothing if the free comes last
// Freed while a reader may still have it.
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

static _Atomic(int *) current;
int seen; // what is never looked at would not be read

static void *first(void *arg)
{
    int *old = atomic_exchange(&current, NULL);
    free(old); //= a
    return arg;
}

static void *second(void *arg)
{
    int *it = atomic_load(&current);
    if (it)
        seen = *it; //= b
    return arg;
}

int main(void)
{
    pthread_t a, b;
    atomic_store(&current, malloc(sizeof(int)));
    *atomic_load(&current) = 7;
    pthread_create(&a, NULL, first, NULL);
    pthread_create(&b, NULL, second, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return 0;
}
