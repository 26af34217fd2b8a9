//@ expect: misuse
//@ execs: 100
//@ cause: free(block);
//@ says: block T1 T2
// Two threads free the same block, and touch it otherwise never.
#include <pthread.h>
#include <stdlib.h>

static char *block;

static void *worker(void *arg)
{
    free(block);
    return arg;
}

int main(void)
{
    block = malloc(64);
    pthread_t a, b;
    pthread_create(&a, NULL, worker, NULL);
    pthread_create(&b, NULL, worker, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return 0;
}
