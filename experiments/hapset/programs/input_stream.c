// A stream is opened under the lock of its channel; who opens it waits, with that lock, for a signal that is
// given under the same lock.
// Bug: deadlock (nested monitors).
#include "noise.h"

static pthread_mutex_t channel = PTHREAD_MUTEX_INITIALIZER, stream = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t ready = PTHREAD_COND_INITIALIZER;
static int is_ready;

static void *open_stream(void *arg)
{
    noise(1);
    pthread_mutex_lock(&channel);
    pthread_mutex_lock(&stream);
    while (!is_ready)
        pthread_cond_wait(&ready, &stream);
    pthread_mutex_unlock(&stream);
    pthread_mutex_unlock(&channel);
    noise(4);
    return arg;
}

static void *fill(void *arg)
{
    noise(1);
    pthread_mutex_lock(&channel);
    pthread_mutex_lock(&stream);
    is_ready = 1;
    pthread_cond_signal(&ready);
    pthread_mutex_unlock(&stream);
    pthread_mutex_unlock(&channel);
    noise(4);
    return arg;
}

int main(void)
{
    void *(*const bodies[])(void *) = {fill, open_stream, bystander};
    run_threads(bodies, 3);
    return 0;
}
