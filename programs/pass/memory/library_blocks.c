//@ expect: pass
//@ execs: 20
// Blocks that the C library allocates for the program, which frees them, in another thread too.
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void *release(void *arg)
{
    free(arg);
    return NULL;
}

static void hand_over(void *block)
{
    pthread_t a;
    pthread_create(&a, NULL, release, block);
    pthread_join(a, NULL);
}

int main(void)
{
    char *copy = strdup("thirteen char");
    copy[13] = '\0';
    hand_over(copy);
    char *part = strndup("thirteen", 5);
    part[5] = '\0';
    hand_over(part);
    char *text;
    int n = asprintf(&text, "%d %s", 7, "seven");
    text[n] = '\0';
    hand_over(text);
    hand_over(getcwd(NULL, 0));
    hand_over(realpath("/", NULL));
    char *written;
    size_t size;
    FILE *stream = open_memstream(&written, &size);
    fprintf(stream, "%0100d", 1);
    fclose(stream);
    written[size] = '\0';
    hand_over(written);
    FILE *file = tmpfile();
    fputs("a line\n", file);
    rewind(file);
    char *line = NULL;
    size_t room = 0;
    if (getline(&line, &room, file) != 7)
        return 1;
    line[room - 1] = '\0';
    fclose(file);
    hand_over(line);
    return 0;
}
