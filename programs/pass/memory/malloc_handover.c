//@ expect: pass
//@ execs: 200
// Memory allocated in one thread, handed over, grown in another and freed in a third.
#include <assert.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdlib.h>
#include <string.h>

static char *slot[2];
static sem_t filled[2];

static void *maker(void *arg)
{
    slot[0] = malloc(8);
    strcpy(slot[0], "radd");
    sem_post(&filled[0]);
    return arg;
}

static void *grower(void *arg)
{
    sem_wait(&filled[0]);
    slot[1] = realloc(slot[0], 4096);
    strcat(slot[1], "le");
    sem_post(&filled[1]);
    return arg;
}

static void *eater(void *arg)
{
    sem_wait(&filled[1]);
    assert(strcmp(slot[1], "raddle") == 0);
    free(slot[1]);
    return arg;
}

int main(void)
{
    pthread_t t[3];
    void *(*stage[3])(void *) = {eater, grower, maker};
    sem_init(&filled[0], 0, 0);
    sem_init(&filled[1], 0, 0);
    for (int i = 0; i < 3; i++)
        pthread_create(&t[i], NULL, stage[i], NULL);
    for (int i = 0; i < 3; i++)
        pthread_join(t[i], NULL);
    return 0;
}
