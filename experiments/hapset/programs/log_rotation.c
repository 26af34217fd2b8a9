// A log is closed and opened anew, each under the lock; an entry that comes in between is dropped.
// Bug: atomicity violation.
#include <assert.h>
#include "noise.h"

static pthread_mutex_t log_lock = PTHREAD_MUTEX_INITIALIZER;
static int is_open = 1, n_entries;

static void *rotate(void *arg)
{
    noise(1);
    pthread_mutex_lock(&log_lock);
    is_open = 0;
    pthread_mutex_unlock(&log_lock);
    noise(1);
    pthread_mutex_lock(&log_lock);
    is_open = 1;
    pthread_mutex_unlock(&log_lock);
    noise(3);
    return arg;
}

static void *enter(void *arg)
{
    noise(1);
    pthread_mutex_lock(&log_lock);
    if (is_open)
        n_entries++;
    pthread_mutex_unlock(&log_lock);
    noise(3);
    return arg;
}

int main(void)
{
    void *(*const bodies[])(void *) = {rotate, enter};
    run_threads(bodies, 2);
    assert(n_entries == 1);
    return 0;
}
