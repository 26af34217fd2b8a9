//@ expect: pass
//@ execs: 20
// Blocks of all small sizes, of which two threads use every byte, each its own: the last word is shared.
#include <pthread.h>
#include <stdlib.h>

#define N 40

static char *blocks[N];

static void *odd(void *arg)
{
    for (int size = 0; size < N; size++)
        for (int at = 1; at < size; at += 2)
            blocks[size][at] = at;
    return arg;
}

int main(void)
{
    for (int size = 0; size < N; size++)
        blocks[size] = malloc(size);
    pthread_t a;
    pthread_create(&a, NULL, odd, NULL);
    for (int size = 0; size < N; size++)
        for (int at = 0; at < size; at += 2)
            blocks[size][at] = at;
    pthread_join(a, NULL);
    int sum = 0;
    for (int size = 0; size < N; size++) {
        for (int at = 0; at < size; at++)
            sum += blocks[size][at] != at;
        free(blocks[size]);
    }
    return sum;
}
