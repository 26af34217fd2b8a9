// A writer fills a buffer that the reader takes for filled when it is told the length; the length comes first.
// Bug: order violation.
#include <assert.h>
#include "noise.h"

enum { LENGTH = 2 };

static volatile int length, buffer[LENGTH];

static void *write_process(void *arg)
{
    noise(1);
    length = LENGTH;
    for (int i = 0; i < LENGTH; i++)
        buffer[i] = 1;
    noise(4);
    noise_atomic(1);
    return arg;
}

static void *read_process(void *arg)
{
    noise(1);
    for (int i = 0; i < length; i++)
        assert(buffer[i] == 1);
    noise(4);
    noise_atomic(1);
    return arg;
}

int main(void)
{
    void *(*const bodies[])(void *) = {write_process, read_process};
    run_threads(bodies, 2);
    return 0;
}
