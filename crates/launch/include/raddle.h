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

/* When an operation of a data structure ran: steps of the execution before its first one, and before it returned. */
struct raddle_span {
    unsigned long long invoked;
    unsigned long long returned;
    unsigned thread;
};

/* An operation that was called: "push(1)", and what it returned, NULL if it has not. */
struct raddle_operation {
    struct raddle_span span;
    const char *call;
    const char *result;
};

/* An operation that could come next, and what it would return then; NULL if it would block. */
struct raddle_refused {
    unsigned operation;
    const char *expected;
};

/* Operations whose results no order explains. raddle.hpp makes these; a checker of your own can, too. */
struct raddle_history {
    unsigned consistency; /* 0 linearizable, 1 sequential, 2 quiescent */
    unsigned n_operations;
    const struct raddle_operation *operations;
    unsigned n_explained; /* the longest order that explains what is in it, as indices */
    const unsigned *explained;
    unsigned n_refused;
    const struct raddle_refused *refused;
};

/* Defined by the runtime; NULL without it. */
extern void __raddle_check(void (*function)(void *), void *arg) __attribute__((weak));
extern unsigned __raddle_any(unsigned n_choices) __attribute__((weak));
extern void __raddle_ask(const struct raddle_config *config) __attribute__((weak));
extern int __raddle_is_on(void) __attribute__((weak));
extern unsigned long long __raddle_operation_begin(void) __attribute__((weak));
extern void __raddle_operation_end(unsigned long long begun, struct raddle_span *span) __attribute__((weak));
extern void __raddle_not_linearizable(const struct raddle_history *history) __attribute__((weak));

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

/* An operation of a data structure is about to be called; the result is for raddle_operation_end. Neither is a step, nor
 * orders anything for the race detector. */
static inline unsigned long long raddle_operation_begin(void) {
    return __raddle_operation_begin ? __raddle_operation_begin() : 0;
}

/* It has returned. Without Raddle, the span is 0. */
static inline void raddle_operation_end(unsigned long long begun, struct raddle_span *span) {
    span->invoked = span->returned = 0;
    span->thread = 0;
    if (__raddle_operation_end)
        __raddle_operation_end(begun, span);
}

/* Ends the execution with a finding: no order of these operations explains their results. Without Raddle it returns. */
static inline void raddle_not_linearizable(const struct raddle_history *history) {
    if (__raddle_not_linearizable)
        __raddle_not_linearizable(history);
}

#ifdef __cplusplus
}
#endif

#endif
