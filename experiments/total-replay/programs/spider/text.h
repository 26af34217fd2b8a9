// Texts of bounded length, on the stack of whoever builds them; and what is asked about single characters and lines.
#ifndef SPIDER_TEXT_H
#define SPIDER_TEXT_H

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#define BLANKS " \t\r\n"

enum { TEXT_MAX = 1024 };

struct text {
    int length;
    char at[TEXT_MAX];
};

static inline void text_clear(struct text *text)
{
    text->length = 0;
    text->at[0] = '\0';
}

/* Adds bytes, as far as there is room. */
static inline void text_add(struct text *text, const char *bytes, int length)
{
    int room = TEXT_MAX - 1 - text->length;
    if (length > room)
        length = room;
    memcpy(text->at + text->length, bytes, length);
    text->length += length;
    text->at[text->length] = '\0';
}

static inline void text_print(struct text *text, const char *format, ...)
{
    char line[256];
    va_list args;
    va_start(args, format);
    int length = vsnprintf(line, sizeof line, format, args);
    va_end(args);
    text_add(text, line, length < (int)sizeof line ? length : (int)sizeof line - 1);
}

static inline int is_digit(char it)
{
    return it >= '0' && it <= '9';
}

static inline char lower(char it)
{
    return it >= 'A' && it <= 'Z' ? (char)(it - 'A' + 'a') : it;
}

static inline int is_letter(char it)
{
    return lower(it) >= 'a' && lower(it) <= 'z';
}

/* The value of a hexadecimal digit; -1 if it is none. */
static inline int hex(char it)
{
    if (is_digit(it))
        return it - '0';
    it = lower(it);
    return it >= 'a' && it <= 'f' ? it - 'a' + 10 : -1;
}

/* Makes letters small. */
static inline void make_lower(char *text)
{
    for (char it; (it = *text) != '\0'; text++)
        if (it >= 'A' && it <= 'Z')
            *text = lower(it);
}

/* Are the texts the same, whatever their case? */
static inline int is_same(const char *one, const char *other)
{
    return strcasecmp(one, other) == 0;
}

/* What comes after a beginning; none if the text begins otherwise. */
static inline const char *after(const char *text, const char *beginning)
{
    int length = (int)strlen(beginning);
    return strncasecmp(text, beginning, length) == 0 ? text + length : NULL;
}

/* Copies as much as there is room for; 0 if that is not all. */
static inline int copy(char *to, int room, const char *from, int length)
{
    int is_whole = length < room;
    if (!is_whole)
        length = room - 1;
    memcpy(to, from, length);
    to[length] = '\0';
    return is_whole;
}

/* Copies without the blanks around. */
static inline int copy_trimmed(char *to, int room, const char *from, int length)
{
    int n_blanks = (int)strspn(from, BLANKS);
    if (n_blanks > length)
        n_blanks = length;
    from += n_blanks;
    length -= n_blanks;
    while (length > 0 && memchr(BLANKS, from[length - 1], strlen(BLANKS)) != NULL)
        length--;
    return copy(to, room, from, length);
}

/* The number at the beginning of a text; -1 if there is none. */
static inline int number_of(const char *text)
{
    if (!is_digit(*text))
        return -1;
    int number = 0;
    for (; is_digit(*text) && number < 100000000; text++)
        number = number * 10 + (*text - '0');
    return number;
}

/* Copies the next line and moves on; 0 after the last one. */
static inline int next_line(const char **text, char *line, int room)
{
    const char *begin = *text;
    if (*begin == '\0')
        return 0;
    const char *end = strchr(begin, '\n');
    int length = end == NULL ? (int)strlen(begin) : (int)(end - begin);
    *text = end == NULL ? begin + length : end + 1;
    copy_trimmed(line, room, begin, length);
    return 1;
}

/* Splits a line at a sign into two trimmed halves; 0 if the sign is not there. */
static inline int split(const char *line, char sign, char *left, int left_room, char *right, int right_room)
{
    const char *at = strchr(line, sign);
    if (at == NULL)
        return 0;
    copy_trimmed(left, left_room, line, (int)(at - line));
    copy_trimmed(right, right_room, at + 1, (int)strlen(at + 1));
    return 1;
}

/* Does a pattern with `*` (anything) match the text; with `is_prefix`, its beginning? `$` at the end is the end. */
static inline int matches(const char *pattern, const char *text, int is_prefix)
{
    for (; *pattern != '\0'; pattern++, text++) {
        if (*pattern == '*') {
            for (;; text++) {
                if (matches(pattern + 1, text, is_prefix))
                    return 1;
                if (*text == '\0')
                    return 0;
            }
        }
        if (*pattern == '$' && pattern[1] == '\0')
            return *text == '\0';
        if (*pattern != *text)
            return 0;
    }
    return is_prefix || *text == '\0';
}

/* Fowler, Noll and Vo's hash. */
static inline unsigned hash_of(const char *text)
{
    unsigned hash = 2166136261u;
    for (unsigned char it; (it = (unsigned char)*text) != '\0'; text++)
        hash = (hash ^ it) * 16777619u;
    return hash;
}

#endif
