//@ race: a b
// After thousands of accesses to memory that threads use in turn: two threads read what several have read, and the writer
// waits for one of them only.
#include "busy.h"

#include <pthread.h>
#include <semaphore.h>
#include <stddef.h>

static sem_t is_read;
static int table[64];
int seen[3]; // what is never looked at would not be read

static void *first(void *arg)
{
    for (int i = 0; i < 64; i++)
        seen[0] += table[i];
    sem_post(&is_read);
    return arg;
}

static void *second(void *arg)
{
    for (int i = 0; i < 64; i++)
        seen[1] += table[i]; //= a
    return arg;
}

static void *writer(void *arg)
{
    sem_wait(&is_read);
    table[40] = 1; //= b
    return arg;
}

int main(void)
{
    pthread_t threads[3];
    be_busy();
    sem_init(&is_read, 0, 0);
    pthread_create(&threads[0], NULL, first, NULL);
    pthread_create(&threads[1], NULL, second, NULL);
    pthread_create(&threads[2], NULL, writer, NULL);
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], NULL);
    return 0;
}
