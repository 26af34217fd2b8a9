// HTTP: responses are read, chunks put together, redirections followed.
#ifndef SPIDER_HTTP_H
#define SPIDER_HTTP_H

#include "web.h"

enum { REDIRECTIONS_MAX = 4, LINE_MAX_ = 128, TYPE_MAX = 32 };

struct response {
    int status;
    /* The type without parameters, in small letters. */
    char type[TYPE_MAX];
    char location[ADDRESS_MAX];
    struct text body;
};

/* What the headers say about the body. */
struct framing {
    int length;
    int is_chunked;
};

static inline void read_header(const char *name, const char *value, struct response *response, struct framing *framing)
{
    if (is_same(name, "Content-Length")) {
        framing->length = number_of(value);
    } else if (is_same(name, "Transfer-Encoding")) {
        framing->is_chunked = is_same(value, "chunked");
    } else if (is_same(name, "Location")) {
        copy(response->location, ADDRESS_MAX, value, (int)strlen(value));
    } else if (is_same(name, "Content-Type")) {
        copy_trimmed(response->type, TYPE_MAX, value, (int)strcspn(value, ";"));
        make_lower(response->type);
    }
}

/* `HTTP/1.1 200 OK`; 0 if it is something else. */
static inline int read_status(const char *line)
{
    const char *rest = after(line, "HTTP/1.");
    if (rest == NULL || !is_digit(*rest) || rest[1] != ' ')
        return 0;
    int status = number_of(rest + 2);
    return status >= 100 && status <= 599 ? status : 0;
}

static inline int chunk_length(const char *line)
{
    int length = 0, n_digits = 0;
    for (; hex(*line) >= 0 && n_digits < 6; line++, n_digits++)
        length = length * 16 + hex(*line);
    return n_digits == 0 || (*line != '\0' && *line != ';') ? -1 : length;
}

/* Puts chunks together; 0 if they are broken. */
static inline int read_chunks(const char *at, const char *end, struct text *body)
{
    char line[LINE_MAX_];
    while (next_line(&at, line, sizeof line)) {
        int length = chunk_length(line);
        if (length < 0 || length > end - at)
            return 0;
        if (length == 0)
            return 1;
        text_add(body, at, length);
        at += length;
        if (after(at, "\r\n") == NULL)
            return 0;
        at += 2;
    }
    return 0;
}

/* Reads a response; 0 if it is none. */
static inline int read_response(const struct text *bytes, struct response *response)
{
    const char *at = bytes->at, *end = bytes->at + bytes->length;
    char line[LINE_MAX_], name[LINE_MAX_], value[LINE_MAX_];
    struct framing framing = {-1, 0};
    response->type[0] = response->location[0] = '\0';
    text_clear(&response->body);
    if (!next_line(&at, line, sizeof line))
        return 0;
    response->status = read_status(line);
    if (response->status == 0)
        return 0;
    while (next_line(&at, line, sizeof line) && line[0] != '\0') {
        if (!split(line, ':', name, sizeof name, value, sizeof value))
            return 0;
        read_header(name, value, response, &framing);
    }
    if (framing.is_chunked)
        return read_chunks(at, end, &response->body);
    if (framing.length > end - at)
        return 0;
    text_add(&response->body, at, framing.length < 0 ? (int)(end - at) : framing.length);
    return 1;
}

static inline int is_redirection(int status)
{
    return status == 301 || status == 302 || status == 303 || status == 307 || status == 308;
}

/* Downloads what an address leads to; the address becomes the last one. 0 if that was no response. */
static inline int download(struct address *address, struct response *response)
{
    struct text bytes;
    for (int i = 0; i <= REDIRECTIONS_MAX; i++) {
        respond(address, &bytes);
        if (!read_response(&bytes, response))
            return 0;
        if (!is_redirection(response->status))
            return 1;
        struct address next;
        if (!resolve(address, response->location, &next))
            return 0;
        *address = next;
    }
    return 0;
}

/* ---- checks, before there are threads ------------------------------------------------------------------- */

static inline void check_response(const char *bytes, int is_one, int status, const char *body)
{
    struct text text;
    struct response response;
    text_clear(&text);
    text_add(&text, bytes, (int)strlen(bytes));
    assert(read_response(&text, &response) == is_one);
    if (is_one) {
        assert(response.status == status);
        assert(strcmp(response.body.at, body) == 0);
    }
}

static inline void check_http(void)
{
    check_response("HTTP/1.1 200 OK\r\n\r\nall", 1, 200, "all");
    check_response("HTTP/1.0 404 No\r\nContent-Length: 2\r\n\r\nabc", 1, 404, "ab");
    check_response("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\nA;x\r\n0123456789\r\n0\r\n\r\n", 1, 200,
                   "abc0123456789");
    check_response("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n9\r\nabc\r\n", 0, 0, NULL);
    check_response("HTTP/2 200\r\n\r\n", 0, 0, NULL);
    check_response("HTTP/1.1 200 OK\r\nno header\r\n\r\n", 0, 0, NULL);
    struct address address;
    struct response response;
    resolve(NULL, "http://a.web/old", &address);
    int is_there = download(&address, &response);
    assert(is_there && response.status == 200);
    assert(strcmp(address.path, "/about/") == 0);
    assert(strcmp(response.type, "text/html") == 0);
}

#endif
