//@ expect: assert
//@ execs: 500
//@ cause: pthread_cond_wait(&has_room, &lock); | assert(n_buffered < ROOM);
//@ says: n_buffered T1 T2
// Writers put characters into a buffer and wait if it is full; somebody empties it and wakes all of them. Who is woken does
// not look again whether there is room. No preemption is needed: the writers come first.
#include <assert.h>
#include <pthread.h>

#ifndef WRITERS
#define WRITERS 2
#define EACH 2
#endif
enum { ROOM = 1 };
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t has_room = PTHREAD_COND_INITIALIZER, has_some = PTHREAD_COND_INITIALIZER;
static char buffer[ROOM];
static int n_buffered, n_flushed;

static void *write_some(void *arg)
{
    for (int i = 0; i < EACH; i++) {
        pthread_mutex_lock(&lock);
        if (n_buffered == ROOM) // should be `while`
            pthread_cond_wait(&has_room, &lock);
        assert(n_buffered < ROOM);
        buffer[n_buffered++] = 'x';
        pthread_cond_signal(&has_some);
        pthread_mutex_unlock(&lock);
    }
    return arg;
}

static void *flush_all(void *arg)
{
    pthread_mutex_lock(&lock);
    while (n_flushed < WRITERS * EACH) {
        while (n_buffered == 0)
            pthread_cond_wait(&has_some, &lock);
        n_flushed += n_buffered;
        n_buffered = 0;
        pthread_cond_broadcast(&has_room);
    }
    pthread_mutex_unlock(&lock);
    return arg;
}

int main(void)
{
    pthread_t t[WRITERS + 1];
    for (int i = 0; i <= WRITERS; i++)
        pthread_create(&t[i], NULL, i < WRITERS ? write_some : flush_all, NULL);
    for (int i = 0; i <= WRITERS; i++)
        pthread_join(t[i], NULL);
    return 0;
}
