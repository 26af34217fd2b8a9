// A reader looks how long a list is, then takes the last item; a writer may have removed it.
// Bug: atomicity violation.
#include <assert.h>
#include "noise.h"

static volatile int items[3] = {4, 5, 6}, n_items = 3;

static void *seek(void *arg)
{
    noise(1);
    int last = n_items - 1;
    noise(1);
    assert(items[last] != 0);
    noise(3);
    noise_atomic(2);
    return arg;
}

static void *shorten(void *arg)
{
    noise(1);
    items[n_items - 1] = 0;
    n_items = n_items - 1;
    noise(3);
    noise_atomic(2);
    return arg;
}

int main(void)
{
    void *(*const bodies[])(void *) = {seek, shorten};
    run_threads(bodies, 2);
    return 0;
}
