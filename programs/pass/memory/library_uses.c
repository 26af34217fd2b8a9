//@ expect: pass
//@ execs: 20
// The C library reads and writes blocks up to their last byte, and not beyond: with limits, precisions, short reads.
#define _GNU_SOURCE
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/mman.h>
#include <unistd.h>

static char *block(size_t size, const char *text)
{
    char *it = malloc(size);
    memcpy(it, text, size);
    return it;
}

static int format(char *to, size_t size, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    int n = vsnprintf(to, size, format, list);
    va_end(list);
    return n;
}

static int compare(const void *a, const void *b)
{
    return *(const char *)a - *(const char *)b;
}

// A text right at the end of what can be read, and a format at its beginning.
static int uses_at_the_edge(void)
{
    size_t page = sysconf(_SC_PAGESIZE);
    char *all = mmap(NULL, 3 * page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (all == MAP_FAILED || mprotect(all + page, page, PROT_READ | PROT_WRITE))
        return 1;
    char *bare = all + 2 * page - 3, *first = all + page;
    char room[8] = "";
    memcpy(bare, "abc", 3);
    int n = strnlen(bare, 3) != 3;
    n += strncat(room, bare, 3) != room || strcmp(room, "abc") != 0;
    strncpy(room, bare, 3);
    n += snprintf(room, sizeof room, "%.3s", bare) != 3;
    n += strncmp(room, bare, 3) != 0;
    char *copy = strndup(bare, 3);
    n += strcmp(copy, "abc") != 0;
    free(copy);
    strcpy(first, "n%d");
    n += format(room, sizeof room, first, 12) != 3;
    munmap(all, 3 * page);
    return n;
}

static void *worker(void *arg)
{
    char *bare = block(5, "abcde"); // without an end
    char *text = block(6, "abcde");
    char *room = malloc(13);
    int n = strnlen(bare, 5) != 5;
    n += strncmp(bare, text, 5) != 0;
    n += memchr(bare, 'e', 100) != bare + 4;
    n += strcmp(text, "abcdx") == 0 || strcasecmp(text, "ABCDE") != 0;
    n += strchr(text, 'b') != text + 1 || strchr(text, 0) != text + 5;
    n += memcmp(bare, text, 5) != 0;
    n += snprintf(room, 13, "%.5s|%*.*s|%d", bare, 4, 2, bare, 7) != 12;
    n += strcmp(room, "abcde|  ab|7") != 0;
    n += format(room, 13, "%5.1f %c%s%% %ld %s %Lf", 1.5, 'x', "y", 1L, "long", 2.0L) <= 13;
    n += sprintf(room, "%s%s", text, text) != 10;
    strncpy(room, "short", 13);
    strcat(room, text);
    strncat(room, bare, 2);
    stpcpy(room, "twelve chars");
    qsort(bare, 5, 1, compare);
    char *digits = block(3, "12");
    n += atoi(digits) != 12 || strtol(digits, NULL, 10) != 12 || strtod(digits, NULL) != 12;
    char *copy = strndup(bare, 5);
    FILE *file = tmpfile();
    fwrite(bare, 1, 5, file);
    fputs(text, file);
    rewind(file);
    n += fread(text, 1, 6, file) != 6;
    char *rest = malloc(5);
    n += fgets(rest, 5, file) != rest || strcmp(rest, "bcde") != 0;
    n += pread(fileno(file), rest, 5, 7) != 3;
    fclose(file);
    free(rest);
    free(copy);
    free(digits);
    free(room);
    free(text);
    free(bare);
    n += uses_at_the_edge();
    return n ? NULL : arg;
}

int main(void)
{
    pthread_t a;
    void *result;
    pthread_create(&a, NULL, worker, &a);
    pthread_join(a, &result);
    return result != &a;
}
