// A timer that is armed is called; it may be disarmed, and its callback taken away, after the look.
// Bug: atomicity violation (crash).
#include "noise.h"

static void tick(void)
{
    noise(1);
}

static volatile int is_armed = 1;
static void (*volatile callback)(void) = tick;

static void *fire(void *arg)
{
    noise(1);
    if (is_armed)
        callback();
    noise(3);
    noise_atomic(2);
    return arg;
}

static void *disarm(void *arg)
{
    noise(1);
    is_armed = 0;
    callback = NULL;
    noise(3);
    noise_atomic(2);
    return arg;
}

int main(void)
{
    void *(*const bodies[])(void *) = {fire, disarm};
    run_threads(bodies, 2);
    return 0;
}
