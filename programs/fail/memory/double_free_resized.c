//@ expect: misuse
//@ execs: 100
//@ cause: free(block); | block = realloc(
//@ says: block T1 T2
// One thread frees the block that the other makes larger.
#include <pthread.h>
#include <stdlib.h>

static char *block;

static void *worker(void *arg)
{
    if (arg)
        free(block);
    else
        block = realloc(block, 4096);
    return arg;
}

int main(void)
{
    block = malloc(64);
    pthread_t a, b;
    pthread_create(&a, NULL, worker, NULL);
    pthread_create(&b, NULL, worker, &b);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return 0;
}
