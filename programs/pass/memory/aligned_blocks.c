//@ expect: pass
//@ execs: 20
// Aligned blocks of sizes that are no multiple of anything.
#include <malloc.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

static void *worker(void *arg)
{
    for (size_t align = 16; align <= 256; align *= 4) {
        char *blocks[3];
        blocks[0] = aligned_alloc(align, align + 1);
        blocks[1] = memalign(align, 33);
        if (posix_memalign((void **)&blocks[2], align, 50))
            abort();
        blocks[0][align] = blocks[1][32] = blocks[2][49] = 1;
        blocks[0][0] = blocks[1][0] = blocks[2][0] = 1;
        for (int i = 0; i < 3; i++)
            free(blocks[i]);
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
