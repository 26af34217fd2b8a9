//@ expect: pass
//@ execs: 50
// A writer that fills the pipe blocks until the reader makes room.
#define _GNU_SOURCE
#include <assert.h>
#include <fcntl.h>
#include <pthread.h>
#include <string.h>
#include <unistd.h>

enum { CHUNK = 4096, CHUNKS = 6 };
static int ends[2];

static void *writer(void *arg)
{
    (void)arg;
    char chunk[CHUNK];
    for (int i = 0; i < CHUNKS; i++) {
        memset(chunk, 'a' + i, sizeof chunk);
        assert(write(ends[1], chunk, sizeof chunk) == CHUNK);
    }
    close(ends[1]);
    return NULL;
}

static void *reader(void *arg)
{
    char buffer[CHUNK];
    long total = 0;
    ssize_t n;
    while ((n = read(ends[0], buffer, sizeof buffer)) > 0) {
        assert(buffer[0] == 'a' + (int)(total / CHUNK));
        total += n;
    }
    assert(total == CHUNK * CHUNKS);
    return arg;
}

int main(void)
{
    pthread_t a, b;
    assert(pipe(ends) == 0);
    assert(fcntl(ends[1], F_SETPIPE_SZ, CHUNK) >= CHUNK);
    pthread_create(&a, NULL, writer, NULL);
    pthread_create(&b, NULL, reader, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return 0;
}
