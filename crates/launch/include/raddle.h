/* Explores functions of C and C++ programs with Raddle. `raddle cc` and `raddle run` find this file automatically.
 *
 * A program that includes it needs no library: without Raddle, raddle_check calls the function once.
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

/* The budget and strategy for exploring a function; 0 and NULL mean the default. The command line overrides them. */
struct raddle_config {
    unsigned long long execs;   /* maximum number of executions */
    unsigned long long time_ms; /* time limit in milliseconds */
    unsigned long long seed;    /* random seed, if has_seed */
    int has_seed;
    const char *strategy;       /* as for --strategy */
    const char *replay;         /* id of a finding: only its schedule is executed */
};

/* Defined by the runtime; NULL without it. */
extern void __raddle_check(void (*function)(void *), void *arg) __attribute__((weak));
extern unsigned __raddle_any(unsigned n_choices) __attribute__((weak));
extern void __raddle_ask(const struct raddle_config *config) __attribute__((weak));
extern int __raddle_is_on(void) __attribute__((weak));

/* Explores `function(arg)`: under Raddle it is called repeatedly, each time under another schedule, and code after
 * the call does not run, unless executions have to start at `main`. The function must join the threads that it creates
 * and leave static variables and the data behind `arg` unchanged. */
static inline void raddle_check(void (*function)(void *), void *arg) {
    if (__raddle_check)
        __raddle_check(function, arg);
    else
        function(arg);
}

/* The same, with the budget and strategy of `config`. */
static inline void raddle_check_with(const struct raddle_config *config, void (*function)(void *), void *arg) {
    if (__raddle_ask)
        __raddle_ask(config);
    raddle_check(function, arg);
}

/* Returns whether Raddle is exploring the program. */
static inline int raddle_is_on(void) {
    return __raddle_is_on && __raddle_is_on();
}

/* Returns one of the numbers 0 .. n_choices - 1: all of them are explored. Without Raddle it is 0. */
static inline unsigned raddle_any(unsigned n_choices) {
    return __raddle_any ? __raddle_any(n_choices) : 0;
}

#ifdef __cplusplus
}
#endif

#endif
