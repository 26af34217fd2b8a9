//@ race: a b
// After thousands of accesses to memory that threads use in turn: one thread writes, a second one reads in its turn, and a
// third one reads out of turn.
#include "busy.h"

#include <pthread.h>
#include <semaphore.h>
#include <stddef.h>

static sem_t is_written;
static int shared;
int seen[2]; // what is never looked at would not be read

static void *writer(void *arg)
{
    shared = 1; //= a
    sem_post(&is_written);
    return arg;
}

static void *reader(void *arg)
{
    sem_wait(&is_written);
    seen[0] = shared;
    return arg;
}

static void *other(void *arg)
{
    seen[1] = shared; //= b
    return arg;
}

int main(void)
{
    pthread_t threads[3];
    be_busy();
    sem_init(&is_written, 0, 0);
    pthread_create(&threads[0], NULL, writer, NULL);
    pthread_create(&threads[1], NULL, reader, NULL);
    pthread_create(&threads[2], NULL, other, NULL);
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], NULL);
    return 0;
}
