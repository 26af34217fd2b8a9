//@ expect: misuse
//@ execs: 100
//@ cause: free(block);
//@ says: T1 T2
// The C library has allocated the block.
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

static char *block;

static void *worker(void *arg)
{
    free(block);
    return arg;
}

int main(void)
{
    block = strdup("who frees this?");
    pthread_t a, b;
    pthread_create(&a, NULL, worker, NULL);
    pthread_create(&b, NULL, worker, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return 0;
}
