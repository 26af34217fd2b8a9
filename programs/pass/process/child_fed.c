//@ expect: pass
//@ execs: 50
// One thread waits for a child process while another feeds it through a pipe.
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static int ends[2];

static void *feed(void *arg)
{
    (void)arg;
    assert(write(ends[1], "x", 1) == 1);
    close(ends[1]);
    return NULL;
}

int main(void)
{
    pthread_t thread;
    assert(pipe(ends) == 0);
    pid_t child = fork();
    if (child == 0) {
        char byte = 0;
        close(ends[1]);
        _exit(read(ends[0], &byte, 1) == 1 && byte == 'x' ? 7 : 8);
    }
    assert(child > 0);
    close(ends[0]);
    pthread_create(&thread, NULL, feed, NULL);
    int status = 0;
    assert(waitpid(child, &status, 0) == child);
    assert(WIFEXITED(status) && WEXITSTATUS(status) == 7);
    pthread_join(thread, NULL);
    return 0;
}
