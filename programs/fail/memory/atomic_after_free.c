//@ expect: misuse
//@ execs: 100
//@ cause: if (shared != NULL) | shared = NULL;
//@ says: T0 T1
//@ undetected: the pointer is taken away after the free, and no detector looks at that
// The owner frees a counter before it takes the pointer away. The only access after the free is atomic.
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static atomic_long *shared;
static long seen;

static void *look(void *arg)
{
    pthread_mutex_lock(&lock);
    if (shared != NULL)
        seen = atomic_load(shared);
    pthread_mutex_unlock(&lock);
    return arg;
}

int main(void)
{
    pthread_t thread;
    shared = calloc(1, sizeof *shared);
    pthread_create(&thread, NULL, look, NULL);
    free(shared);
    pthread_mutex_lock(&lock);
    shared = NULL;
    pthread_mutex_unlock(&lock);
    pthread_join(thread, NULL);
    return 0;
}
