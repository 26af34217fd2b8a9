// A writer fills a buffer that the reader takes for filled when it is told the length; the length comes first.
// Bug: order violation.
#include <assert.h>
#include "noise.h"

static volatile int length, buffer[2];

static void *write_process(void *arg)
{
    noise(1);
    length = 2;
    for (int i = 0; i < 2; i++)
        buffer[i] = 1;
    noise(1);
    return arg;
}

static void *read_process(void *arg)
{
    noise(1);
    for (int i = 0; i < length; i++)
        assert(buffer[i] == 1);
    noise(1);
    return arg;
}

int main(void)
{
    void *(*const bodies[])(void *) = {read_process, write_process};
    run_threads(bodies, 2);
    return 0;
}
