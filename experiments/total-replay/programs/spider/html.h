// Pages: tags and their attributes, and which of them are links.
#ifndef SPIDER_HTML_H
#define SPIDER_HTML_H

#include "address.h"

enum { NAME_MAX_ = 16, VALUE_MAX = 96, ATTRIBUTES_MAX = 6, LINKS_MAX = 12 };

struct attribute {
    char name[NAME_MAX_];
    char value[VALUE_MAX];
};

struct tag {
    char name[NAME_MAX_];
    int n_attributes;
    struct attribute attributes[ATTRIBUTES_MAX];
};

/* Addresses that a page links to. */
struct links {
    int n;
    struct address all[LINKS_MAX];
};

/* ---- characters ----------------------------------------------------------------------------------------- */

/* The character of an entity's name; 0 if it is unknown. */
static inline char entity(const char *name, int length)
{
    static const struct {
        const char *name;
        char is;
    } known[] = {{"amp", '&'}, {"lt", '<'}, {"gt", '>'}, {"quot", '"'}, {"apos", '\''}};
    if (length > 1 && name[0] == '#') {
        int code = number_of(name + 1);
        return code > 0 && code < 128 ? (char)code : 0;
    }
    for (unsigned i = 0; i < sizeof known / sizeof *known; i++)
        if ((int)strlen(known[i].name) == length && memcmp(known[i].name, name, length) == 0)
            return known[i].is;
    return 0;
}

/* Copies a value with its entities as characters. */
static inline void copy_value(char *to, const char *from, int length)
{
    const char *end = from + length;
    int n = 0;
    while (from < end) {
        const char *mark = memchr(from, '&', end - from);
        int plain = (int)((mark == NULL ? end : mark) - from);
        if (plain > VALUE_MAX - 2 - n)
            plain = VALUE_MAX - 2 - n;
        memcpy(to + n, from, plain);
        n += plain;
        if (mark == NULL || n == VALUE_MAX - 2)
            break;
        const char *semicolon = memchr(mark, ';', end - mark);
        char is = semicolon == NULL ? 0 : entity(mark + 1, (int)(semicolon - mark) - 1);
        to[n++] = is != 0 ? is : '&';
        from = is != 0 ? semicolon + 1 : mark + 1;
    }
    to[n] = '\0';
}

static inline const char *skip_blanks(const char *at)
{
    return at + strspn(at, BLANKS);
}

/* Copies a name in small letters, and moves behind it. */
static inline const char *read_name(const char *at, char *name)
{
    int length = (int)strspn(at, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-!/");
    copy(name, NAME_MAX_, at, length);
    make_lower(name);
    return at + length;
}

/* ---- tags ----------------------------------------------------------------------------------------------- */

static inline const char *read_value(const char *at, char *value)
{
    if (*at == '"' || *at == '\'') {
        const char *end = strchr(at + 1, *at);
        if (end == NULL)
            end = at + strlen(at);
        copy_value(value, at + 1, (int)(end - at) - 1);
        return *end == '\0' ? end : end + 1;
    }
    int length = (int)strcspn(at, " \t\r\n>");
    copy_value(value, at, length);
    return at + length;
}

static inline const char *read_attribute(const char *at, struct tag *tag)
{
    struct attribute attribute = {"", ""};
    const char *end = skip_blanks(read_name(at, attribute.name));
    if (end == at)
        return at + 1;
    if (*end == '=')
        end = read_value(skip_blanks(end + 1), attribute.value);
    if (tag->n_attributes < ATTRIBUTES_MAX)
        tag->attributes[tag->n_attributes++] = attribute;
    return end;
}

/* The next tag, and what comes behind it; none at the end of the page. */
static inline const char *next_tag(const char *at, struct tag *tag)
{
    for (;;) {
        at = strchr(at, '<');
        if (at == NULL)
            return NULL;
        if (strncmp(at, "<!--", 4) != 0)
            break;
        at = strstr(at, "-->");
        if (at == NULL)
            return NULL;
    }
    tag->n_attributes = 0;
    at = skip_blanks(read_name(at + 1, tag->name));
    while (*at != '>' && *at != '\0')
        at = skip_blanks(read_attribute(at, tag));
    return *at == '>' ? at + 1 : at;
}

static inline const char *attribute(const struct tag *tag, const char *name)
{
    for (int i = 0; i < tag->n_attributes; i++)
        if (strcmp(tag->attributes[i].name, name) == 0)
            return tag->attributes[i].value;
    return NULL;
}

/* ---- links ---------------------------------------------------------------------------------------------- */

static inline void add_link(struct links *links, const struct address *base, const char *reference)
{
    if (links->n < LINKS_MAX && resolve(base, reference, &links->all[links->n]))
        links->n++;
}

/* The reference of `5; url=…`. */
static inline const char *refresh_of(const struct tag *tag)
{
    const char *what = attribute(tag, "http-equiv"), *content = attribute(tag, "content");
    if (what == NULL || content == NULL || !is_same(what, "refresh"))
        return NULL;
    const char *semicolon = strchr(content, ';');
    return semicolon == NULL ? NULL : after(skip_blanks(semicolon + 1), "url=");
}

static inline const char *reference_of(const struct tag *tag)
{
    static const char *const names[][2] = {{"a", "href"},     {"area", "href"}, {"link", "href"},  {"img", "src"},
                                           {"script", "src"}, {"frame", "src"}, {"iframe", "src"}, {"embed", "src"}};
    for (unsigned i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(tag->name, names[i][0]) == 0)
            return attribute(tag, names[i][1]);
    return strcmp(tag->name, "meta") == 0 ? refresh_of(tag) : NULL;
}

static inline void links_of_page(const char *page, struct address base, struct links *links)
{
    struct tag tag;
    while ((page = next_tag(page, &tag)) != NULL) {
        if (strcmp(tag.name, "base") == 0) {
            const char *href = attribute(&tag, "href");
            struct address other;
            if (href != NULL && resolve(&base, href, &other))
                base = other;
            continue;
        }
        const char *reference = reference_of(&tag);
        if (reference != NULL)
            add_link(links, &base, reference);
    }
}

/* `url(…)` in a style sheet, comments aside. */
static inline void links_of_style(const char *style, const struct address *base, struct links *links)
{
    for (;;) {
        const char *comment = strstr(style, "/*"), *begin = strstr(style, "url(");
        if (begin == NULL)
            return;
        if (comment != NULL && comment < begin) {
            style = strstr(comment, "*/");
            if (style == NULL)
                return;
            continue;
        }
        begin += strlen("url(");
        char reference[VALUE_MAX];
        int length = (int)strcspn(begin, ")");
        if (length >= 2 && (*begin == '"' || *begin == '\''))
            copy_trimmed(reference, sizeof reference, begin + 1, length - 2);
        else
            copy_trimmed(reference, sizeof reference, begin, length);
        add_link(links, base, reference);
        style = begin + length;
    }
}

/* ---- checks, before there are threads ------------------------------------------------------------------- */

static inline void check_links(const char *page, int is_style, const char *expected)
{
    struct address base;
    struct links links = {.n = 0};
    struct text found;
    char address[ADDRESS_MAX];
    resolve(NULL, "http://a.web/x/", &base);
    if (is_style)
        links_of_style(page, &base, &links);
    else
        links_of_page(page, base, &links);
    text_clear(&found);
    for (int i = 0; i < links.n; i++) {
        write_address(&links.all[i], address);
        text_print(&found, "%s ", address);
    }
    assert(strcmp(found.at, expected) == 0);
}

static inline void check_html(void)
{
    check_links("<a href=y>", 0, "http://a.web/x/y ");
    check_links("<A name=n HREF = '/y?a=1&amp;b'>", 0, "http://a.web/y?a=1&b ");
    check_links("<!-- <a href=y> --><img alt=\"<\" src=\"z\"/>", 0, "http://a.web/x/z ");
    check_links("<base href=/b/><a href=y><p href=no>", 0, "http://a.web/b/y ");
    check_links("<meta http-equiv=Refresh content='0; URL=//b.web'>", 0, "http://b.web/ ");
    check_links("<a href=\"unfinished", 0, "http://a.web/x/unfinished ");
    check_links("a { b: url( 'c' ) } /* url(d) */ url(e)", 1, "http://a.web/x/'c' http://a.web/x/e ");
}

#endif
