// What robots.txt allows (RFC 9309): the group of our name, or of everybody; the longest rule that matches decides.
#ifndef SPIDER_RULES_H
#define SPIDER_RULES_H

#include <assert.h>

#include "text.h"

enum { RULES_MAX = 6, PATTERN_MAX = 32, AGENT_MAX = 16 };

struct rule {
    int allows;
    char pattern[PATTERN_MAX];
};

struct rules {
    int n;
    int delay;
    struct rule all[RULES_MAX];
};

static inline void add_rule(struct rules *rules, int allows, const char *pattern)
{
    /* `Disallow:` alone allows everything. */
    if (pattern[0] == '\0' || rules->n == RULES_MAX)
        return;
    struct rule *rule = &rules->all[rules->n];
    if (copy(rule->pattern, PATTERN_MAX, pattern, (int)strlen(pattern))) {
        rule->allows = allows;
        rules->n++;
    }
}

/* Reads the groups of one name. */
static inline int read_group(const char *file, const char *agent, struct rules *rules)
{
    char line[96], name[AGENT_MAX], value[64];
    int is_ours = 0, is_among_agents = 0, is_there = 0;
    rules->n = rules->delay = 0;
    while (next_line(&file, line, sizeof line)) {
        char *comment = strchr(line, '#');
        if (comment != NULL)
            *comment = '\0';
        if (!split(line, ':', name, sizeof name, value, sizeof value))
            continue;
        if (is_same(name, "User-agent")) {
            is_ours = (is_among_agents && is_ours) || is_same(value, agent);
            is_there |= is_ours;
            is_among_agents = 1;
            continue;
        }
        is_among_agents = 0;
        if (!is_ours)
            continue;
        if (is_same(name, "Allow"))
            add_rule(rules, 1, value);
        else if (is_same(name, "Disallow"))
            add_rule(rules, 0, value);
        else if (is_same(name, "Crawl-delay") && number_of(value) > 0)
            rules->delay = number_of(value);
    }
    return is_there;
}

static inline void read_rules(const char *file, const char *agent, struct rules *rules)
{
    if (!read_group(file, agent, rules))
        read_group(file, "*", rules);
}

static inline int is_allowed(const struct rules *rules, const char *path)
{
    int longest = -1, allows = 1;
    for (int i = 0; i < rules->n; i++) {
        const struct rule *rule = &rules->all[i];
        int length = (int)strlen(rule->pattern);
        if (!matches(rule->pattern, path, 1) || length < longest)
            continue;
        allows = length == longest ? allows || rule->allows : rule->allows;
        longest = length;
    }
    return allows;
}

/* ---- checks, before there are threads ------------------------------------------------------------------- */

static inline void check_rules(void)
{
    const char *file = "User-agent: x\nUser-agent: y # both\nDisallow: /a\nAllow: /a/b*$\n\nUser-agent: *\nDisallow: /\n";
    struct rules rules;
    read_rules(file, "Y", &rules);
    assert(rules.n == 2);
    assert(is_allowed(&rules, "/"));
    assert(!is_allowed(&rules, "/a/c"));
    assert(is_allowed(&rules, "/a/bcd"));
    read_rules(file, "z", &rules);
    assert(!is_allowed(&rules, "/b"));
    read_rules("", "z", &rules);
    assert(is_allowed(&rules, "/b"));
    assert(matches("*.html", "a.html", 0) && !matches("*.html", "a.html5", 0) && matches("/x", "/xy", 1));
}

#endif
