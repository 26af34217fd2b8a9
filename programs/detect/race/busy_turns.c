//@ none
// After thousands of accesses to memory that threads use in turn: arrays that are written by one thread and read by all, by
// turns, as words, bytes and pairs; a flag that was plain memory before; blocks that another thread frees.
#include "busy.h"

#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

enum { N = 3, ROUNDS = 4, SIZE = 96 };

static pthread_barrier_t barrier;
static int words[SIZE];
static unsigned char bytes[SIZE];
static double pairs[SIZE];
static int *blocks[N];
static union {
    int plain;
    atomic_int flag;
} either;
long seen[N];

static void *work(void *arg)
{
    long me = (long)arg;
    for (int round = 0; round < ROUNDS; round++) {
        int writer = (me + round) % N == 0;
        if (writer) {
            for (int i = 0; i < SIZE; i++) {
                words[i] = i + round;
                bytes[i] = (unsigned char)i;
                pairs[i] = i;
            }
            either.plain = round;
        }
        blocks[me] = malloc(SIZE * sizeof **blocks);
        memset(blocks[me], round, SIZE * sizeof **blocks);
        pthread_barrier_wait(&barrier);
        for (int i = 0; i < SIZE; i++)
            seen[me] += words[i] + bytes[i] + (long)pairs[i] + blocks[(me + 1) % N][i];
        atomic_fetch_add(&either.flag, 1);
        pthread_barrier_wait(&barrier);
        free(blocks[(me + 1) % N]);
        bytes[me] = 0; // of one word
        pthread_barrier_wait(&barrier);
    }
    return NULL;
}

int main(void)
{
    pthread_t threads[N];
    be_busy();
    pthread_barrier_init(&barrier, NULL, N);
    for (long i = 0; i < N; i++)
        pthread_create(&threads[i], NULL, work, (void *)i);
    for (int i = 0; i < N; i++)
        pthread_join(threads[i], NULL);
    return 0;
}
