//@ races among: a b c d e
// Filled once, guarded by a plain flag.
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

static int is_filled, table[4];
int seen[2]; // what is never looked at would not be read

static void fill(void)
{
    if (is_filled) //= a
        return;
    table[3] = 3; //= c
    is_filled = 1; //= b
}

static void *first(void *arg)
{
    fill();
    seen[0] = table[3]; //= d
    return arg;
}

static void *second(void *arg)
{
    fill();
    seen[1] = table[3]; //= e
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
