//@ expect: misuse
//@ execs: 100
//@ cause: free(block);
//@ says: block T1 T2
// A block so large that it is a mapping of its own, which the first free returns to the kernel.
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
    block = malloc(4 << 20);
    pthread_t a, b;
    pthread_create(&a, NULL, worker, NULL);
    pthread_create(&b, NULL, worker, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return 0;
}
