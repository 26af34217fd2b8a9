// What was downloaded, as files: their names, checksums, and pages whose links lead to other files.
#ifndef SPIDER_MIRROR_H
#define SPIDER_MIRROR_H

#include <pthread.h>

#include "html.h"

enum { FILES_MAX = 16, FILE_NAME_MAX = 96 };

struct file {
    char name[FILE_NAME_MAX];
    int length;
    unsigned checksum;
};

static pthread_mutex_t mirror_lock = PTHREAD_MUTEX_INITIALIZER;
static struct file files[FILES_MAX];
static int n_files;

/* `host/path`, with a name for folders and without signs that files can't have. */
static inline void file_name_of(const struct address *address, char *name)
{
    int length = snprintf(name, FILE_NAME_MAX, "%s%s", address->host, address->path);
    if (length >= FILE_NAME_MAX)
        length = FILE_NAME_MAX - 1;
    if (name[length - 1] == '/')
        length += snprintf(name + length, FILE_NAME_MAX - length, "index.html");
    if (address->query[0] != '\0' && length < FILE_NAME_MAX)
        snprintf(name + length, FILE_NAME_MAX - length, "@%s", address->query);
    for (char *it = name; *(it += strcspn(it, "*:?%")) != '\0';)
        *it = '_';
}

/* The way from one file to another. */
static inline void relative_name(const char *from, const char *to, struct text *text)
{
    int common = 0;
    for (int i = 0; from[i] != '\0' && from[i] == to[i]; i++)
        if (from[i] == '/')
            common = i + 1;
    for (const char *it = from + common; *it != '\0'; it++)
        if (*it == '/')
            text_print(text, "../");
    text_print(text, "%s", to + common);
}

/* Adler's checksum. */
static inline unsigned checksum_of(const struct text *text)
{
    unsigned low = 1, high = 0;
    int length = text->length;
    for (int i = 0; i < length; i++) {
        low = (low + (unsigned char)text->at[i]) % 65521;
        high = (high + low) % 65521;
    }
    return high << 16 | low;
}

/* Copies a page with all its links as ways between files. */
static inline void rewrite(const char *page, const struct address *address, struct text *result)
{
    char own[FILE_NAME_MAX], other[FILE_NAME_MAX];
    struct address base = *address;
    struct tag tag;
    file_name_of(address, own);
    for (const char *next; (next = next_tag(page, &tag)) != NULL; page = next) {
        const char *reference = reference_of(&tag);
        struct address target;
        if (reference == NULL || !resolve(&base, reference, &target)) {
            text_add(result, page, (int)(next - page));
            continue;
        }
        const char *begin = strchr(page, '<');
        text_add(result, page, (int)(begin - page));
        text_print(result, "<%s", tag.name);
        for (int i = 0; i < tag.n_attributes; i++) {
            const struct attribute *it = &tag.attributes[i];
            if (it->value != reference) {
                text_print(result, " %s=\"%s\"", it->name, it->value);
                continue;
            }
            file_name_of(&target, other);
            text_print(result, " %s=\"", it->name);
            relative_name(own, other, result);
            text_add(result, "\"", 1);
        }
        text_add(result, ">", 1);
    }
    text_add(result, page, (int)strlen(page));
}

/* 0 if the file is there already. */
static inline int store(const struct address *address, const struct text *body)
{
    struct file file = {.length = body->length, .checksum = checksum_of(body)};
    file_name_of(address, file.name);
    pthread_mutex_lock(&mirror_lock);
    int is_new = n_files < FILES_MAX;
    for (int i = 0; i < n_files && is_new; i++)
        is_new = strcmp(files[i].name, file.name) != 0;
    if (is_new)
        files[n_files++] = file;
    pthread_mutex_unlock(&mirror_lock);
    return is_new;
}

/* ---- checks, before there are threads ------------------------------------------------------------------- */

static inline void check_mirror(void)
{
    struct address address;
    struct text text;
    char name[FILE_NAME_MAX];
    resolve(NULL, "http://a.web/one/two/?x=1", &address);
    file_name_of(&address, name);
    assert(strcmp(name, "a.web/one/two/index.html@x=1") == 0);
    text_clear(&text);
    relative_name("a.web/one/two", "a.web/three", &text);
    assert(strcmp(text.at, "../three") == 0);
    text_clear(&text);
    rewrite("<p>x<a href=/ class=c>y</a><!-- z -->", &address, &text);
    assert(strcmp(text.at, "<p>x<a href=\"../../index.html\" class=\"c\">y</a><!-- z -->") == 0);
    text_clear(&text);
    text_print(&text, "Wikipedia");
    assert(checksum_of(&text) == 0x11e60398);
}

#endif
