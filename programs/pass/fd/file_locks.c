//@ expect: pass
//@ execs: 100
// Threads that keep each other out by locks on a file: flock and open-file-description locks, each with
// its own description.
#define _GNU_SOURCE
#include <assert.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <unistd.h>

static char path[64];
static int count, inside;

static void *run(void *arg)
{
    int fd = open(path, O_RDWR);
    assert(fd >= 0);
    for (int i = 0; i < 2; i++) {
        struct flock whole = { .l_type = F_WRLCK, .l_whence = SEEK_SET };
        if (arg)
            assert(flock(fd, LOCK_EX) == 0);
        else
            assert(fcntl(fd, F_OFD_SETLKW, &whole) == 0);
        assert(inside++ == 0);
        sched_yield();
        count++;
        assert(--inside == 0);
        whole.l_type = F_UNLCK;
        if (arg)
            assert(flock(fd, LOCK_UN) == 0);
        else
            assert(fcntl(fd, F_OFD_SETLK, &whole) == 0);
    }
    close(fd);
    return NULL;
}

int main(void)
{
    int file = memfd_create("locks", 0);
    assert(file >= 0 && ftruncate(file, 16) == 0);
    snprintf(path, sizeof path, "/proc/self/fd/%d", file);
    for (int kind = 0; kind < 2; kind++) {
        pthread_t threads[2];
        for (int i = 0; i < 2; i++)
            pthread_create(&threads[i], NULL, run, kind ? path : NULL);
        for (int i = 0; i < 2; i++)
            pthread_join(threads[i], NULL);
    }
    assert(count == 8);
    return 0;
}
