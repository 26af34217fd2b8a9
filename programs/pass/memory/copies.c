//@ expect: pass
//@ execs: 200
// memcpy, memmove, memset, strcpy and struct assignment on shared data, all under one lock.
#include <assert.h>
#include <pthread.h>
#include <string.h>

struct record {
    char name[16];
    int values[8];
};
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct record shared;

static void *writer(void *arg)
{
    pthread_mutex_lock(&lock);
    strcpy(shared.name, arg);
    memset(shared.values, (int)strlen(arg), sizeof shared.values);
    pthread_mutex_unlock(&lock);
    return NULL;
}

static void *reader(void *arg)
{
    (void)arg;
    struct record copy, moved;
    pthread_mutex_lock(&lock);
    memcpy(&copy, &shared, sizeof copy);
    moved = shared;
    pthread_mutex_unlock(&lock);
    assert(memcmp(&copy, &moved, sizeof copy) == 0);
    int want = (int)strlen(copy.name) * 0x01010101;
    for (int i = 0; i < 8; i++)
        assert(copy.values[i] == want);
    return NULL;
}

int main(void)
{
    pthread_t t[4];
    pthread_create(&t[0], NULL, writer, "one");
    pthread_create(&t[1], NULL, reader, NULL);
    pthread_create(&t[2], NULL, writer, "fifteen");
    pthread_create(&t[3], NULL, reader, NULL);
    for (int i = 0; i < 4; i++)
        pthread_join(t[i], NULL);
    return 0;
}
