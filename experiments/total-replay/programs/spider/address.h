// Addresses of the web: read, resolved against a page's own, written in one way only.
#ifndef SPIDER_ADDRESS_H
#define SPIDER_ADDRESS_H

#include <assert.h>

#include "text.h"

enum { HOST_MAX = 24, PATH_MAX_ = 64, QUERY_MAX = 24, ADDRESS_MAX = 128, SEGMENTS_MAX = 12 };

struct address {
    int port;
    char scheme[8];
    char host[HOST_MAX];
    char path[PATH_MAX_];
    char query[QUERY_MAX];
};

static inline int port_of(const char *scheme)
{
    if (strcmp(scheme, "http") == 0)
        return 80;
    return strcmp(scheme, "https") == 0 ? 443 : 0;
}

/* Letters that need no `%` (RFC 3986, 2.3). */
static inline int is_unreserved(int it)
{
    return is_letter((char)it) || is_digit((char)it) || it == '-' || it == '.' || it == '_' || it == '~';
}

/* `%7e` is `~`, and what stays has capital digits. */
static inline void normalise_escapes(char *path)
{
    char *to = path;
    for (const char *from = path; *from != '\0';) {
        int high = *from == '%' ? hex(from[1]) : -1;
        int low = high >= 0 ? hex(from[2]) : -1;
        if (low < 0) {
            *to++ = *from++;
            continue;
        }
        int byte = high * 16 + low;
        from += 3;
        if (is_unreserved(byte)) {
            *to++ = (char)byte;
        } else {
            *to++ = '%';
            *to++ = "0123456789ABCDEF"[high];
            *to++ = "0123456789ABCDEF"[low];
        }
    }
    *to = '\0';
}

/* Takes `.` and `..` out of a path (RFC 3986, 5.2.4). */
static inline void remove_dots(char *path)
{
    int begins[SEGMENTS_MAX];
    int n_segments = 0;
    char result[PATH_MAX_];
    int length = 0;
    for (const char *at = path; *at == '/';) {
        const char *end = strchr(at + 1, '/');
        int size = end == NULL ? (int)strlen(at) : (int)(end - at);
        int is_dot = size == 2 && at[1] == '.';
        int is_double = size == 3 && at[1] == '.' && at[2] == '.';
        if (is_double && n_segments > 0)
            length = begins[--n_segments];
        if (!is_dot && !is_double && n_segments < SEGMENTS_MAX) {
            begins[n_segments++] = length;
            memcpy(result + length, at, size);
            length += size;
        } else if (end == NULL) {
            result[length++] = '/';
        }
        at += size;
    }
    if (length == 0)
        result[length++] = '/';
    copy(path, PATH_MAX_, result, length);
}

static inline void normalise(struct address *address)
{
    make_lower(address->host);
    if (strchr(address->path, '%') != NULL)
        normalise_escapes(address->path);
    remove_dots(address->path);
}

/* Path and query, up to the fragment. */
static inline int read_path(const char *text, struct address *address)
{
    int length = (int)strcspn(text, "?#");
    if (!copy(address->path, PATH_MAX_, text, length))
        return 0;
    text += length;
    if (*text != '?') {
        address->query[0] = '\0';
        return 1;
    }
    return copy(address->query, QUERY_MAX, text + 1, (int)strcspn(text + 1, "#"));
}

/* `//host:port/path`. */
static inline int read_host(const char *text, struct address *address)
{
    text += 2;
    int length = (int)strcspn(text, "/?#");
    const char *colon = memchr(text, ':', length);
    int host_length = colon == NULL ? length : (int)(colon - text);
    if (host_length == 0 || !copy(address->host, HOST_MAX, text, host_length))
        return 0;
    address->port = colon == NULL ? port_of(address->scheme) : number_of(colon + 1);
    text += length;
    if (address->port <= 0)
        return 0;
    if (*text == '/')
        return read_path(text, address);
    if (!read_path(text, address))
        return 0;
    strcpy(address->path, "/");
    return 1;
}

/* The scheme's length with its colon; 0 if the text has none. */
static inline int scheme_length(const char *text)
{
    int length = 0;
    while (is_letter(text[length]))
        length++;
    return length > 0 && text[length] == ':' ? length + 1 : 0;
}

/* What a reference on a page means (RFC 3986, 5.2.2); 0 if it is none that can be downloaded. */
static inline int resolve(const struct address *base, const char *reference, struct address *address)
{
    int scheme = scheme_length(reference);
    if (scheme > 0) {
        if (!copy(address->scheme, sizeof address->scheme, reference, scheme - 1))
            return 0;
        make_lower(address->scheme);
        if (port_of(address->scheme) == 0)
            return 0;
        reference += scheme;
        if (after(reference, "//") == NULL || !read_host(reference, address))
            return 0;
        normalise(address);
        return 1;
    }
    if (base == NULL)
        return 0;
    *address = *base;
    if (after(reference, "//") != NULL) {
        if (!read_host(reference, address))
            return 0;
    } else if (*reference == '/') {
        if (!read_path(reference, address))
            return 0;
    } else if (*reference == '?') {
        if (!copy(address->query, QUERY_MAX, reference + 1, (int)strcspn(reference + 1, "#")))
            return 0;
    } else if (*reference != '\0' && *reference != '#') {
        struct address relative;
        if (!read_path(reference, &relative))
            return 0;
        int length = (int)(strrchr(base->path, '/') + 1 - base->path);
        int is_whole = length + strlen(relative.path) < PATH_MAX_;
        if (!is_whole)
            return 0;
        strcpy(address->path + length, relative.path);
        strcpy(address->query, relative.query);
    }
    normalise(address);
    return 1;
}

static inline void write_address(const struct address *address, char *text)
{
    int length = snprintf(text, ADDRESS_MAX, "%s://%s", address->scheme, address->host);
    if (address->port != port_of(address->scheme))
        length += snprintf(text + length, ADDRESS_MAX - length, ":%d", address->port);
    length += snprintf(text + length, ADDRESS_MAX - length, "%s", address->path);
    if (address->query[0] != '\0')
        snprintf(text + length, ADDRESS_MAX - length, "?%s", address->query);
}

/* ---- checks, before there are threads ------------------------------------------------------------------- */

static inline void check_resolved(const char *base, const char *reference, const char *expected)
{
    struct address page, address;
    char text[ADDRESS_MAX];
    int is_there = resolve(NULL, base, &page);
    assert(is_there);
    is_there = resolve(&page, reference, &address);
    assert(is_there == (expected != NULL));
    if (expected != NULL) {
        write_address(&address, text);
        assert(strcmp(text, expected) == 0);
    }
}

static inline void check_addresses(void)
{
    const char *base = "http://a.web/one/two?q";
    check_resolved(base, "three", "http://a.web/one/three");
    check_resolved(base, "../three/./four/..", "http://a.web/three/");
    check_resolved(base, "/three#end", "http://a.web/three");
    check_resolved(base, "//B.web", "http://b.web/");
    check_resolved(base, "https://b.web:444/%7eme/%2f", "https://b.web:444/~me/%2F");
    check_resolved(base, "HTTP://a.web:80/", "http://a.web/");
    check_resolved(base, "http://a.web:80/?x=1", "http://a.web/?x=1");
    check_resolved(base, "?r", "http://a.web/one/two?r");
    check_resolved(base, "mailto:me@a.web", NULL);
    check_resolved(base, "../../../top", "http://a.web/top");
}

#endif
