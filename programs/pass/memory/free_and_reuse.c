//@ expect: pass
//@ execs: 300
// Blocks that are freed and allocated again, by every allocation function: no double free.
#define _GNU_SOURCE
#include <assert.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void lines(void)
{
    static char text[] = "one\ntwo, which is longer\n";
    char *line = malloc(1);
    size_t room = 1;
    FILE *in = fmemopen(text, sizeof text - 1, "r");
    while (getline(&line, &room, in) > 0) {
    }
    fclose(in);
    free(line);
}

static void strings(void)
{
    char *copy = strdup("copy"), *printed;
    assert(asprintf(&printed, "%s of a copy", copy) > 0);
    free(copy);
    copy = realloc(printed, 4096);
    copy = realloc(copy, 8);
    free(copy);
    free(realpath("/", NULL));
}

static void *worker(void *arg)
{
    free(NULL);
    for (int i = 0; i < 8; i++) {
        char *small = malloc(24), *aligned = aligned_alloc(64, 128), *any;
        assert(posix_memalign((void **)&any, 32, 40) == 0);
        pthread_mutex_lock(&lock);
        free(small);
        small = malloc(24);
        pthread_mutex_unlock(&lock);
        free(aligned);
        free(any);
        free(small);
        small = reallocarray(NULL, 3, 8);
        free(small);
        free(malloc(0));
        free(malloc(1 << 20));
    }
    lines();
    strings();
    return arg;
}

int main(void)
{
    pthread_t threads[3];
    for (int i = 0; i < 3; i++)
        pthread_create(&threads[i], NULL, worker, NULL);
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], NULL);
    return 0;
}
