//@ expect: assert
// A table is filled by a long thread that throws it away when it is done; a short one looks something up in the end. The
// short one must come last: near the end of a thread that is a hundred times as long.
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>

enum { RECORDS = 300, LOOKS = 3 };
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int *table, n_records;

static void *fill(void *arg)
{
    for (int i = 0; i < RECORDS; i++) {
        pthread_mutex_lock(&lock);
        table[n_records++] = i;
        pthread_mutex_unlock(&lock);
    }
    pthread_mutex_lock(&lock);
    free(table);
    table = NULL;
    pthread_mutex_unlock(&lock);
    return arg;
}

static void *look_up(void *arg)
{
    for (int i = 0; i < LOOKS; i++) {
        pthread_mutex_lock(&lock);
        assert(table != NULL);
        pthread_mutex_unlock(&lock);
    }
    return arg;
}

int main(void)
{
    pthread_t filler, looker;
    table = malloc(RECORDS * sizeof *table);
    pthread_create(&looker, NULL, look_up, NULL);
    pthread_create(&filler, NULL, fill, NULL);
    pthread_join(filler, NULL);
    pthread_join(looker, NULL);
    return 0;
}
