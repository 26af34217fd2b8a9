// A script is made the current one, then compiled as the current one; another load may come in between.
// Bug: atomicity violation.
#include <assert.h>
#include "noise.h"

static volatile int current, n_wrong;

static void load(int script)
{
    noise(1);
    current = script;
    noise(1);
    if (current != script)
        n_wrong++;
    noise(3);
    noise_atomic(1);
}

static void *load_first(void *arg)
{
    load(1);
    return arg;
}

static void *load_second(void *arg)
{
    load(2);
    return arg;
}

int main(void)
{
    void *(*const bodies[])(void *) = {load_first, load_second};
    run_threads(bodies, 2);
    assert(n_wrong == 0);
    return 0;
}
