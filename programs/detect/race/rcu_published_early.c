//@ race: a b
// Published before it is made.
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

struct config {
    int a, b;
};

static _Atomic(struct config *) current;
int seen; // what is never looked at would not be read

static void *first(void *arg)
{
    struct config *fresh = malloc(sizeof *fresh);
    fresh->a = 1;
    atomic_store_explicit(&current, fresh, memory_order_release);
    fresh->b = 2; //= a
    return arg;
}

static void *second(void *arg)
{
    struct config *it = atomic_load_explicit(&current, memory_order_acquire);
    if (it)
        seen = it->a + it->b; //= b
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
