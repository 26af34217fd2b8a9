//@ expect: misuse
//@ execs: 200
//@ cause: record = 24;
//@ says: buffer T1
// Room for one record is made, then one is read: in between, another thread makes records longer.
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static size_t record = 16;

static size_t size(void)
{
    pthread_mutex_lock(&lock);
    size_t it = record;
    pthread_mutex_unlock(&lock);
    return it;
}

static void *reader(void *arg)
{
    char *buffer = malloc(size());
    size_t n = fread(buffer, 1, size(), arg);
    free(buffer);
    return n ? arg : NULL;
}

static void *writer(void *arg)
{
    pthread_mutex_lock(&lock);
    record = 24;
    pthread_mutex_unlock(&lock);
    return arg;
}

int main(void)
{
    FILE *file = tmpfile();
    fputs("0123456789012345678901234567890123456789", file);
    rewind(file);
    pthread_t a, b;
    pthread_create(&a, NULL, reader, file);
    pthread_create(&b, NULL, writer, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    fclose(file);
    return 0;
}
