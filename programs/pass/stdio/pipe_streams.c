//@ expect: pass
//@ execs: 100
// Streams of the C library over a pipe and a socket pair between two threads: lines, blocks, characters.
#include <assert.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static int ends[2], sockets[2];

static void *produce(void *arg)
{
    FILE *out = fdopen(ends[1], "w"), *answers = fdopen(sockets[0], "r");
    char answer[32];
    (void)arg;
    setvbuf(out, NULL, _IOLBF, 0);
    for (int i = 0; i < 3; i++) {
        fprintf(out, "line %d\n", i);
        assert(fgets(answer, sizeof answer, answers));
        assert(atoi(answer) == i * i);
    }
    fputs("12 34\nabcdefgh", out);
    fclose(out);
    fclose(answers);
    return NULL;
}

int main(void)
{
    pthread_t thread;
    char *line = NULL, block[8];
    size_t room = 0;
    int a, b;
    assert(pipe(ends) == 0);
    assert(socketpair(AF_UNIX, SOCK_STREAM, 0, sockets) == 0);
    pthread_create(&thread, NULL, produce, NULL);
    FILE *in = fdopen(ends[0], "r"), *answers = fdopen(sockets[1], "w");
    for (int i = 0; i < 3; i++) {
        assert(getline(&line, &room, in) == 7);
        assert(line[5] - '0' == i);
        fprintf(answers, "%d\n", i * i);
        fflush(answers);
    }
    assert(fscanf(in, "%d %d", &a, &b) == 2 && a == 12 && b == 34);
    assert(getc(in) == '\n');
    assert(fread(block, 1, 8, in) == 8 && memcmp(block, "abcdefgh", 8) == 0);
    assert(fgetc(in) == EOF);
    fclose(in);
    fclose(answers);
    free(line);
    pthread_join(thread, NULL);
    return 0;
}
