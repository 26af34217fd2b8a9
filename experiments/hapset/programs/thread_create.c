// A thread uses its own handle, which its creator stores when the creation has returned.
// Bug: order violation (crash).
#include "noise.h"

static struct handle {
    int number;
} first;
static struct handle *volatile handle;
static volatile int number;

static void *run(void *arg)
{
    noise(1);
    number = handle->number;
    noise(3);
    return arg;
}

int main(void)
{
    pthread_t thread;
    pthread_create(&thread, NULL, run, NULL);
    noise(1);
    handle = &first;
    noise(3);
    pthread_join(thread, NULL);
    return 0;
}
