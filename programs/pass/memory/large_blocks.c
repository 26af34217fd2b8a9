//@ expect: pass
//@ execs: 20
// Blocks that are mappings of their own: freed, mapped again by the program, resized.
#include <pthread.h>
#include <stdlib.h>
#include <sys/mman.h>

#define LARGE (300 * 1024)

static void *worker(void *arg)
{
    char *block = malloc(LARGE + 5);
    block[0] = block[LARGE + 4] = 1;
    free(block);
    char *map = mmap(NULL, LARGE + 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    for (size_t at = 0; at < LARGE + 8192; at += 1024)
        map[at] = map[at + 1023] = 1;
    munmap(map, LARGE + 8192);
    block = calloc(1, LARGE);
    block = realloc(block, 2 * LARGE + 3);
    block[2 * LARGE + 2] = 1;
    block = realloc(block, 10);
    block[9] = 1;
    free(block);
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
