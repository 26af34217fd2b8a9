//@ none
// Two halves of eight bytes.
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

union {
    long whole;
    int halves[2];
} it;
int seen; // what is never looked at would not be read

static void *first(void *arg)
{
    it.halves[0] = 1;
    return arg;
}

static void *second(void *arg)
{
    it.halves[1] = 2;
    seen = it.halves[1];
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
