//@ expect: misuse
//@ execs: 200
//@ cause: buffer = realloc(buffer, 10);
//@ says: buffer T1
// The block stays where it is and becomes shorter, under a thread that knows its old length.
#include <pthread.h>
#include <stdlib.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static char *buffer;

static void *writer(void *arg)
{
    pthread_mutex_lock(&lock);
    buffer[19] = 1;
    pthread_mutex_unlock(&lock);
    return arg;
}

static void *shrinker(void *arg)
{
    pthread_mutex_lock(&lock);
    buffer = realloc(buffer, 10);
    pthread_mutex_unlock(&lock);
    return arg;
}

int main(void)
{
    buffer = malloc(20);
    pthread_t a, b;
    pthread_create(&a, NULL, writer, NULL);
    pthread_create(&b, NULL, shrinker, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    free(buffer);
    return 0;
}
