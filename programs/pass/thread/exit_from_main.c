//@ expect: pass
//@ execs: 200
// main leaves with pthread_exit; the process ends, with code 0 and its atexit work, after the last thread.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

static atomic_int finished;

static void *worker(void *arg)
{
    pthread_t *main_thread = arg;
    if (main_thread)
        pthread_join(*main_thread, NULL); // main can be joined, too
    atomic_fetch_add(&finished, 1);
    return NULL;
}

static void at_end(void)
{
    if (atomic_load(&finished) != 2)
        _Exit(9);
}

int main(void)
{
    static pthread_t self, a, b;
    self = pthread_self();
    atexit(at_end);
    pthread_create(&a, NULL, worker, &self);
    pthread_create(&b, NULL, worker, NULL);
    pthread_exit(NULL);
}
