// A transport is flushed with its own lock first and the cache's second; the cache evicts in the other order.
// Bug: deadlock.
#include "noise.h"

static pthread_mutex_t transport = PTHREAD_MUTEX_INITIALIZER, cache = PTHREAD_MUTEX_INITIALIZER;
static int n_flushed, n_evicted;

static void *flush(void *arg)
{
    noise(1);
    pthread_mutex_lock(&transport);
    n_flushed++;
    pthread_mutex_lock(&cache);
    n_evicted++;
    pthread_mutex_unlock(&cache);
    pthread_mutex_unlock(&transport);
    noise(3);
    return arg;
}

static void *evict(void *arg)
{
    noise(1);
    pthread_mutex_lock(&cache);
    n_evicted++;
    pthread_mutex_lock(&transport);
    n_flushed++;
    pthread_mutex_unlock(&transport);
    pthread_mutex_unlock(&cache);
    noise(3);
    return arg;
}

int main(void)
{
    void *(*const bodies[])(void *) = {flush, evict};
    run_threads(bodies, 2);
    return 0;
}
