//@ expect: misuse
//@ execs: 100
//@ cause: free(block + 16);
//@ says: block[16] T2
// A pointer into the middle of a block is freed.
#include <pthread.h>
#include <stdlib.h>

static char *block;

static void *worker(void *arg)
{
    if (arg)
        free(block + 16);
    return NULL;
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
