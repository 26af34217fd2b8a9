// What to download: `name = value` lines, read before there are threads.
#ifndef SPIDER_SETTINGS_H
#define SPIDER_SETTINGS_H

#include "address.h"

enum { PATTERNS_MAX = 3, SPIDERS_MAX = 3 };

struct patterns {
    int n;
    char all[PATTERNS_MAX][24];
};

struct settings {
    struct address start;
    char agent[16];
    int depth_max;
    int n_spiders;
    int n_checkpoints;
    int is_depth_first;
    /* Addresses that match one of these are not downloaded; are first; are last. */
    struct patterns exclude, interesting, boring;
};

static inline void add_patterns(struct patterns *patterns, const char *list)
{
    while (*list != '\0' && patterns->n < PATTERNS_MAX) {
        int length = (int)strcspn(list, ",");
        copy_trimmed(patterns->all[patterns->n++], sizeof patterns->all[0], list, length);
        list += length;
        if (*list == ',')
            list++;
    }
}

static inline int matches_any(const struct patterns *patterns, const char *text)
{
    for (int i = 0; i < patterns->n; i++)
        if (matches(patterns->all[i], text, 0))
            return 1;
    return 0;
}

/* A number between two others; 0 if it is none. */
static inline int read_number(const char *value, int least, int most, int *number)
{
    *number = number_of(value);
    return *number >= least && *number <= most;
}

/* 0 if the name is unknown, or the value is none for it. */
static inline int read_setting(const char *name, const char *value, struct settings *settings)
{
    if (is_same(name, "start"))
        return resolve(NULL, value, &settings->start);
    if (is_same(name, "agent"))
        return copy(settings->agent, sizeof settings->agent, value, (int)strlen(value));
    if (is_same(name, "depth"))
        return read_number(value, 0, 9, &settings->depth_max);
    if (is_same(name, "spiders"))
        return read_number(value, 1, SPIDERS_MAX, &settings->n_spiders);
    if (is_same(name, "checkpoints"))
        return read_number(value, 0, 9, &settings->n_checkpoints);
    if (is_same(name, "order")) {
        settings->is_depth_first = is_same(value, "depth");
        return settings->is_depth_first || is_same(value, "breadth");
    }
    struct patterns *patterns = is_same(name, "exclude")       ? &settings->exclude
                                : is_same(name, "interesting") ? &settings->interesting
                                : is_same(name, "boring")      ? &settings->boring
                                                               : NULL;
    if (patterns == NULL)
        return 0;
    add_patterns(patterns, value);
    return 1;
}

/* 0 if a line can't be read. */
static inline int read_settings(const char *file, struct settings *settings)
{
    char line[96], name[16], value[72];
    memset(settings, 0, sizeof *settings);
    settings->n_spiders = 1;
    while (next_line(&file, line, sizeof line)) {
        if (line[0] == '\0' || line[0] == '#')
            continue;
        if (!split(line, '=', name, sizeof name, value, sizeof value) || !read_setting(name, value, settings))
            return 0;
    }
    return settings->start.host[0] != '\0';
}

/* Smaller numbers are downloaded first. */
static inline int priority_of(const struct settings *settings, const char *address, int depth)
{
    int priority = settings->is_depth_first ? -depth : depth;
    if (matches_any(&settings->interesting, address))
        priority -= 10;
    if (matches_any(&settings->boring, address))
        priority += 10;
    return priority;
}

/* ---- checks, before there are threads ------------------------------------------------------------------- */

static inline void check_settings(void)
{
    struct settings settings;
    assert(read_settings("# all\n\nstart = http://a.web\nspiders=2\norder = depth\nboring = *.png, *.css\n", &settings));
    assert(settings.n_spiders == 2 && settings.boring.n == 2);
    assert(priority_of(&settings, "http://a.web/x.css", 2) == 8);
    assert(!read_settings("start = http://a.web\nspiders = 9\n", &settings));
    assert(!read_settings("start = http://a.web\nnothing = 1\n", &settings));
    assert(!read_settings("agent = spider\n", &settings));
}

#endif
