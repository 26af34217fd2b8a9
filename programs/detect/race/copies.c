//@ race: a b
// A structure is copied while it changes.
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

struct point {
    int x, y, z, w, more[8];
};

struct point a, b;

static void *first(void *arg)
{
    b = a; //= a
    return arg;
}

static void *second(void *arg)
{
    a.more[3] = 1; //= b
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
