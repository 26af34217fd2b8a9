//@ expect: pass
//@ execs: 50
// Memory that was freed comes back by every function that gives memory, and may be used again: all that
// malloc_usable_size says, what a failed realloc left, what valloc and its like return.
#define _GNU_SOURCE
#include <assert.h>
#include <errno.h>
#include <malloc.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <wchar.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static long total;

__attribute__((noinline)) static void touch(volatile unsigned char *at, size_t size)
{
    for (size_t i = 0; i < size; i += 3)
        at[i] = at[i] + 1;
    if (size)
        at[size - 1] = 7;
    pthread_mutex_lock(&lock);
    total += size ? at[size - 1] : 0;
    pthread_mutex_unlock(&lock);
}

static void churn(void)
{
    void *blocks[16];
    for (int i = 0; i < 16; i++) {
        blocks[i] = malloc(24 + i * 40);
        touch(blocks[i], 24 + i * 40);
    }
    for (int i = 0; i < 16; i++)
        free(blocks[i]);
}

static void *run(void *arg)
{
    churn();
    for (size_t size = 1; size < 60; size += 11) {
        void *block = malloc(size);
        touch(block, malloc_usable_size(block));
        free(block);
    }
    churn();
    void *page = valloc(100);
    touch(page, 100);
    void *pages = pvalloc(100);
    touch(pages, malloc_usable_size(pages) < 4096 ? 100 : 4096);
    void *aligned = aligned_alloc(64, 128), *old = memalign(32, 50), *posix;
    assert(posix_memalign(&posix, 64, 77) == 0);
    touch(aligned, 128);
    touch(old, 50);
    touch(posix, 77);
    free(page);
    free(pages);
    free(aligned);
    free(old);
    free(posix);
    char *block = malloc(100);
    touch((void *)block, 100);
    volatile size_t too_much = PTRDIFF_MAX;
    assert(!realloc(block, too_much) && errno == ENOMEM);
    touch((void *)block, 100);
    assert(!reallocarray(block, too_much, 8));
    touch((void *)block, 100);
    block = realloc(block, 2000);
    touch((void *)block, 2000);
    block = reallocarray(block, 3, 10);
    touch((void *)block, 30);
    free(block);
    char *text = strdup("twelve chars");
    touch((void *)text, strlen(text));
    free(text);
    char *line = NULL;
    assert(asprintf(&line, "%d and %s", 12, "more") == 11);
    touch((void *)line, 11);
    free(line);
    wchar_t *wide = wcsdup(L"wide");
    touch((void *)wide, 16);
    free(wide);
    size_t n = 0;
    line = NULL;
    FILE *file = tmpfile();
    fputs("a line\nanother line that is longer\n", file);
    rewind(file);
    while (getline(&line, &n, file) > 0)
        touch((void *)line, n);
    free(line);
    fclose(file);
    char *big = malloc(1 << 20);
    touch((void *)big, 1 << 12);
    free(big);
    return arg;
}

int main(void)
{
    pthread_t threads[2];
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, run, NULL);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    char *more = sbrk(4096);
    if (more != (void *)-1)
        touch((void *)more, 64);
    return total == 0;
}
