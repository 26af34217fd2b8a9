//@ race: a b
// An atomic, read as plain memory.
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

static atomic_int count;
int seen; // what is never looked at would not be read

static void *first(void *arg)
{
    atomic_fetch_add(&count, 1); //= a
    return arg;
}

static void *second(void *arg)
{
    seen = *(int *)&count; //= b
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
