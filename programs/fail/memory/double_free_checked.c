//@ expect: misuse
//@ execs: 100
//@ cause: if (block) { | block = NULL;
//@ says: block T1 T2
// Both threads find the pointer, and both free it.
#include <pthread.h>
#include <stdlib.h>

static char *block;

static void *worker(void *arg)
{
    if (block) {
        free(block);
        block = NULL;
    }
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
