/* What a C or C++ program can say to Raddle. `raddle cc` finds this file by itself; `raddle run` too.
 *
 * A program that includes it needs nothing else: without Raddle, each function does the obvious, once.
 *
 *     static void two_pushers(void *arg) { ... threads are created, joined, results asserted ... }
 *
 *     int main(void) { raddle_check(two_pushers, NULL); }
 */
#ifndef RADDLE_H
#define RADDLE_H

#ifdef __cplusplus
extern "C" {
#endif

/* How far a function is to be explored: what is 0 or NULL is not asked for. What the command line says about
 * the same things wins. */
struct raddle_config {
    unsigned long long execs;   /* executions, at most */
    unsigned long long time_ms; /* milliseconds, at most */
    unsigned long long seed;    /* what all random choices come from, if has_seed */
    int has_seed;
    const char *strategy;       /* as after --strategy */
    const char *replay;         /* the id of a finding: its schedule again, and no other */
};

/* The runtime's side: there are no such functions without it. */
extern void __raddle_check(void (*function)(void *), void *arg) __attribute__((weak));
extern unsigned __raddle_any(unsigned n_choices) __attribute__((weak));
extern void __raddle_ask(const struct raddle_config *config) __attribute__((weak));
extern int __raddle_is_on(void) __attribute__((weak));

/* Explores `function(arg)`: under Raddle it is called again and again, each time under another schedule, and
 * what follows the call is never reached, unless executions have to begin with `main`. It must join the
 * threads that it creates, and leave static variables and what `arg` points to as it found them. */
static inline void raddle_check(void (*function)(void *), void *arg) {
    if (__raddle_check)
        __raddle_check(function, arg);
    else
        function(arg);
}

/* The same, as far as `config` says. */
static inline void raddle_check_with(const struct raddle_config *config, void (*function)(void *), void *arg) {
    if (__raddle_ask)
        __raddle_ask(config);
    raddle_check(function, arg);
}

/* Is the program explored by Raddle now? */
static inline int raddle_is_on(void) {
    return __raddle_is_on && __raddle_is_on();
}

/* One of the numbers 0 .. n_choices - 1: each is explored. Without Raddle it is 0. */
static inline unsigned raddle_any(unsigned n_choices) {
    return __raddle_any ? __raddle_any(n_choices) : 0;
}

#ifdef __cplusplus
}
#endif

#endif
