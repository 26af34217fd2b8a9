// The web: a server that answers requests out of a table. Each answer is a whole HTTP response, so that the same
// addresses lead to the same bytes in every execution.
#ifndef SPIDER_WEB_H
#define SPIDER_WEB_H

#include "address.h"

enum kind { HTML, STYLE, SCRIPT, IMAGE, RULES, MOVED };

struct resource {
    const char *host, *path;
    enum kind kind;
    /* The body; of what has moved, where to. */
    const char *body;
};

static const struct resource web[] = {
    {"a.web", "/robots.txt", RULES,
     "# For everybody\n"
     "User-agent: *\n"
     "Disallow: /private/\n"
     "Allow: /private/open*.html$\n"
     "\n"
     "User-agent: other\n"
     "Disallow: /\n"},
    {"b.web", "/robots.txt", RULES, "User-agent: spider\nDisallow: /*.js\nCrawl-delay: 1\n"},
    {"a.web", "/", HTML,
     "<!doctype html><html><head><title>Start &amp; end</title>"
     "<link rel=stylesheet href='style.css'></head>"
     "<body><!-- <a href=\"hidden.html\"> --><a href=\"about/\">About</a>"
     "<a HREF=http://b.web/>B</a><a href=//b.web/deep/page.html>Page</a><a href=\"private/secret.html\">No</a>"
     "<a href=\"mailto:me@a.web\">Mail</a></body></html>"},
    {"a.web", "/about/", HTML,
     "<html><body><img src=\"../logo.png\" alt=\"a > b\"><a href='../old#top'>Old</a>"
     "<a href=\"/\">Start</a></body></html>"},
    {"a.web", "/style.css", STYLE, "body { background: url(logo.png) } /* url(none.png) */"},
    {"a.web", "/logo.png", IMAGE, "PNG a.web"},
    {"a.web", "/old", MOVED, "/about/"},
    {"b.web", "/", HTML,
     "<html><head><base href=\"http://b.web/deep/\"></head><body><script src=\"../code.js\"></script>"
     "<a href=\"page.html?x=1&amp;y=2\">Page</a><a href=\"gone.html\">Gone</a></body></html>"},
    {"b.web", "/deep/page.html", HTML, "<html><meta http-equiv=refresh content=\"5; url=http://a.web/\"></html>"},
    {"b.web", "/code.js", SCRIPT, "window.alert(1)"},
};

enum { N_RESOURCES = sizeof web / sizeof *web, CHUNK = 24 };

static inline const char *type_of(enum kind kind)
{
    switch (kind) {
    case HTML:
        return "text/html; charset=utf-8";
    case STYLE:
        return "text/css";
    case SCRIPT:
        return "application/javascript";
    case IMAGE:
        return "image/png";
    default:
        return "text/plain";
    }
}

static inline const struct resource *find_resource(const struct address *address)
{
    for (int i = 0; i < N_RESOURCES; i++)
        if (strcmp(web[i].host, address->host) == 0 && strcmp(web[i].path, address->path) == 0)
            return &web[i];
    return NULL;
}

/* A body in pieces, each after its length (RFC 9112, 7.1). */
static inline void write_chunks(const char *body, struct text *response)
{
    text_print(response, "Transfer-Encoding: chunked\r\n\r\n");
    for (int left = (int)strlen(body); left > 0;) {
        int length = left < CHUNK ? left : CHUNK;
        text_print(response, "%x\r\n", length);
        text_add(response, body, length);
        text_add(response, "\r\n", 2);
        body += length;
        left -= length;
    }
    text_print(response, "0\r\n\r\n");
}

/* What the server of an address answers. */
static inline void respond(const struct address *address, struct text *response)
{
    const struct resource *resource = find_resource(address);
    text_clear(response);
    if (resource == NULL) {
        text_print(response, "HTTP/1.1 404 Not Found\r\nContent-Type: text/html\r\nContent-Length: 0\r\n\r\n");
        return;
    }
    if (resource->kind == MOVED) {
        text_print(response, "HTTP/1.1 301 Moved Permanently\r\nLocation: %s\r\nContent-Length: 0\r\n\r\n", resource->body);
        return;
    }
    text_print(response, "HTTP/1.1 200 OK\r\nServer: table\r\nContent-Type: %s\r\n", type_of(resource->kind));
    if (resource->kind == HTML) {
        write_chunks(resource->body, response);
        return;
    }
    int length = (int)strlen(resource->body);
    text_print(response, "Content-Length: %d\r\n\r\n", length);
    text_add(response, resource->body, length);
}

#endif
