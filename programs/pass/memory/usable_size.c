//@ expect: pass
//@ execs: 20
// All that the C library says can be used of a block is used.
#include <malloc.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

static void *worker(void *arg)
{
    for (int size = 1; size < 60; size += 7) {
        char *block = malloc(size);
        size_t room = malloc_usable_size(block);
        for (size_t at = 0; at < room; at++)
            block[at] = 1;
        if (room < (size_t)size || block[room - 1] != 1)
            abort();
        free(block);
    }
    return arg;
}

int main(void)
{
    pthread_t a;
    pthread_create(&a, NULL, worker, NULL);
    worker(NULL);
    pthread_join(a, NULL);
    return 0;
}
