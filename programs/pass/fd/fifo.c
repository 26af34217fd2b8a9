//@ expect: pass
//@ execs: 50
// A named pipe whose ends are opened by two threads: each open waits for the other.
#include <assert.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char path[64];

static void *reader(void *arg)
{
    char buffer[8];
    int fd = open(path, O_RDONLY);
    assert(fd >= 0);
    (void)arg;
    assert(read(fd, buffer, sizeof buffer) == 5);
    assert(memcmp(buffer, "hello", 5) == 0);
    assert(read(fd, buffer, sizeof buffer) == 0);
    close(fd);
    return NULL;
}

int main(void)
{
    pthread_t thread;
    snprintf(path, sizeof path, "/tmp/raddle-fifo-%d", (int)getpid());
    unlink(path);
    assert(mkfifo(path, 0600) == 0);
    pthread_create(&thread, NULL, reader, NULL);
    int fd = open(path, O_WRONLY);
    assert(fd >= 0);
    assert(write(fd, "hello", 5) == 5);
    close(fd);
    pthread_join(thread, NULL);
    unlink(path);
    return 0;
}
