//@ expect: assert
//@ execs: 500
//@ cause: n_buffered++; | n_buffered = 0;
// Writers put characters into a buffer under a lock; who empties it does so without.
#include <assert.h>
#include <pthread.h>

#ifndef WRITERS
#define WRITERS 2
#define EACH 2
#endif
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static char buffer[WRITERS * EACH];
static int n_buffered, n_flushed;

static void *write_some(void *arg)
{
    for (int i = 0; i < EACH; i++) {
        pthread_mutex_lock(&lock);
        buffer[n_buffered] = 'x';
        n_buffered++;
        pthread_mutex_unlock(&lock);
    }
    return arg;
}

static void flush(void)
{
    n_flushed += n_buffered;
    n_buffered = 0;
}

static void *flush_some(void *arg)
{
    flush();
    return arg;
}

int main(void)
{
    pthread_t t[WRITERS + 1];
    for (int i = 0; i <= WRITERS; i++)
        pthread_create(&t[i], NULL, i < WRITERS ? write_some : flush_some, NULL);
    for (int i = 0; i <= WRITERS; i++)
        pthread_join(t[i], NULL);
    flush();
    assert(n_flushed == WRITERS * EACH);
    return 0;
}
