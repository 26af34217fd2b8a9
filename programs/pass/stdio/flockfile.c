//@ expect: pass
//@ execs: 200
// flockfile keeps two threads' lines together; it is recursive, and ftrylockfile says when it is taken.
#define _GNU_SOURCE
#include <assert.h>
#include <pthread.h>
#include <stdio.h>

static int inside;

static void *writer(void *arg)
{
    for (int i = 0; i < 2; i++) {
        flockfile(stdout);
        assert(ftrylockfile(stdout) == 0);
        assert(++inside == 1);
        fputs("", stdout);
        --inside;
        funlockfile(stdout);
        funlockfile(stdout);
    }
    if (ftrylockfile(stdout) == 0)
        funlockfile(stdout);
    return arg;
}

int main(void)
{
    pthread_t threads[2];
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, writer, NULL);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    return 0;
}
