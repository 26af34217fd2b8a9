//@ expect: pass
//@ execs: 50
// A pipe is read without waiting until there is something in it.
#include <assert.h>
#include <fcntl.h>
#include <pthread.h>
#include <unistd.h>

static int ends[2];

static void *send(void *arg)
{
    char byte = 'x';
    assert(write(ends[1], &byte, 1) == 1);
    return arg;
}

int main(void)
{
    pthread_t thread;
    char byte = 0;
    assert(pipe(ends) == 0);
    fcntl(ends[0], F_SETFL, O_NONBLOCK);
    pthread_create(&thread, NULL, send, NULL);
    while (read(ends[0], &byte, 1) != 1)
        ;
    assert(byte == 'x');
    pthread_join(thread, NULL);
    return 0;
}
