//@ expect: misuse
//@ execs: 100
//@ cause: free(block);
//@ says: block T1 T2
// A lock orders the two threads that free the same block.
#include <pthread.h>
#include <stdlib.h>

static char *block;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *worker(void *arg)
{
    pthread_mutex_lock(&lock);
    free(block);
    pthread_mutex_unlock(&lock);
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
