/* Linearizability tests of data structures with Raddle, for C; raddle.hpp is the same for C++.
 *
 *     static long push(void *stack, long x) { ...; return RADDLE_VOID; }
 *     static long pop(void *stack, long x) { ...; return is_empty ? RADDLE_NONE : value; }
 *
 *     static const struct raddle_op ops[] = {{"push", 2, push}, {"pop", 0, pop}};
 *
 *     int main(void) {
 *         struct raddle_linear test = {new_stack, free_stack, ops, 2};
 *         raddle_linear_check(&test);
 *     }
 *
 * Each execution draws a scenario with raddle_any (which thread calls which operations with which arguments), runs it, and
 * searches for an order of the operations that gives the same results when one thread calls them on a new structure.
 * Without Raddle, one scenario is run, and the program aborts if no order explains it. */
#ifndef RADDLE_LINEAR_H
#define RADDLE_LINEAR_H

#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "raddle.h"

/* What an operation returns that returns nothing, and one that finds nothing. */
#define RADDLE_VOID (LONG_MIN + 1)
#define RADDLE_NONE LONG_MIN

#define RADDLE_CALLS_MAX 48
#define RADDLE_THREADS_MAX 8
#define RADDLE_TEXT_MAX 48

/* An operation. Arguments are 1 .. n_arguments; an operation without arguments gets 0. */
struct raddle_op {
    const char *name;
    unsigned n_arguments;
    long (*call)(void *state, long argument);
    /* On the model; NULL if the structure is its own model. */
    long (*model)(void *model, long argument);
};

/* What is tested. What is 0 has a default. */
struct raddle_linear {
    void *(*create)(void);
    void (*destroy)(void *state);
    const struct raddle_op *ops;
    unsigned n_ops;
    /* A model that one thread changes; NULL if the structure is its own model. */
    void *(*create_model)(void);
    void (*destroy_model)(void *model);
    unsigned consistency; /* 0 linearizable, 1 sequential */
    unsigned n_threads;   /* 2 */
    unsigned n_each;      /* calls of each thread, at most: 3 */
    unsigned n_before;    /* calls before the threads start, at most: 2; UINT_MAX for none */
    unsigned n_after;     /* calls after they have ended, at most: 2; UINT_MAX for none */
    /* For raddle.hpp: if not NULL, operations are called through these instead, with their index. */
    long (*call)(const struct raddle_linear *test, unsigned op, void *state, long argument);
    long (*call_model)(const struct raddle_linear *test, unsigned op, void *model, long argument);
    const void *context;
};

struct raddle_call {
    unsigned op;
    unsigned part; /* 0 before the threads, 1 in one of them, 2 after them */
    unsigned column;
    long argument;
    long result;
    struct raddle_span span;
};

/* One execution of a test. */
struct raddle_scenario {
    const struct raddle_linear *test;
    void *state;
    unsigned n_calls;
    struct raddle_call calls[RADDLE_CALLS_MAX];
};

struct raddle_worker {
    struct raddle_scenario *scenario;
    unsigned column;
};

/* Which orders were tried. */
struct raddle_order_search {
    struct raddle_scenario *scenario;
    unsigned long long first[RADDLE_CALLS_MAX];
    unsigned taken[RADDLE_CALLS_MAX];
    unsigned n_taken;
    unsigned explained[RADDLE_CALLS_MAX];
    unsigned n_explained;
    unsigned refused[RADDLE_CALLS_MAX];
    long expected[RADDLE_CALLS_MAX];
    unsigned n_refused;
};

static inline void raddle_linear_call(struct raddle_scenario *scenario, struct raddle_call *call) {
    const struct raddle_linear *test = scenario->test;
    unsigned long long begun = raddle_operation_begin();
    call->result = test->call ? test->call(test, call->op, scenario->state, call->argument)
                              : test->ops[call->op].call(scenario->state, call->argument);
    raddle_operation_end(begun, &call->span);
}

static inline void *raddle_linear_work(void *arg) {
    struct raddle_worker *worker = (struct raddle_worker *)arg;
    struct raddle_scenario *scenario = worker->scenario;
    for (unsigned i = 0; i < scenario->n_calls; i++)
        if (scenario->calls[i].part == 1 && scenario->calls[i].column == worker->column)
            raddle_linear_call(scenario, &scenario->calls[i]);
    return NULL;
}

/* Adds a call: none if the number is 0. */
static inline void raddle_linear_add(struct raddle_scenario *scenario, unsigned number, unsigned part, unsigned column) {
    if (!number-- || scenario->n_calls == RADDLE_CALLS_MAX)
        return;
    const struct raddle_linear *test = scenario->test;
    for (unsigned op = 0; op < test->n_ops; op++) {
        unsigned n = test->ops[op].n_arguments ? test->ops[op].n_arguments : 1;
        if (number < n) {
            struct raddle_call *call = &scenario->calls[scenario->n_calls++];
            call->op = op;
            call->part = part;
            call->column = column;
            call->argument = test->ops[op].n_arguments ? (long)number + 1 : 0;
            return;
        }
        number -= n;
    }
}

/* How many calls there are to choose from. */
static inline unsigned raddle_linear_choices(const struct raddle_linear *test) {
    unsigned n = 0;
    for (unsigned op = 0; op < test->n_ops; op++)
        n += test->ops[op].n_arguments ? test->ops[op].n_arguments : 1;
    return n;
}

/* Draws which calls are made: 0 is none, and small numbers mean small scenarios. If all are 0, as in the first execution,
 * each operation is called in turn. */
static inline void raddle_linear_draw(struct raddle_scenario *scenario) {
    const struct raddle_linear *test = scenario->test;
    unsigned n_choices = raddle_linear_choices(test);
    unsigned n_threads = test->n_threads ? test->n_threads : 2;
    unsigned n_each = test->n_each ? test->n_each : 3;
    unsigned n_before = test->n_before == UINT_MAX ? 0 : test->n_before ? test->n_before : 2;
    unsigned n_after = test->n_after == UINT_MAX ? 0 : test->n_after ? test->n_after : 2;
    unsigned after[RADDLE_CALLS_MAX];
    if (n_after > RADDLE_CALLS_MAX)
        n_after = RADDLE_CALLS_MAX;
    for (unsigned i = 0; i < n_before; i++)
        raddle_linear_add(scenario, raddle_any(n_choices + 1), 0, 0);
    for (unsigned i = 0; i < n_after; i++)
        after[i] = raddle_any(n_choices + 1);
    unsigned n_rounds = 1 + raddle_any(n_each);
    for (unsigned round = 0; round < n_rounds; round++)
        for (unsigned thread = 0; thread < n_threads; thread++)
            raddle_linear_add(scenario, raddle_any(n_choices + 1), 1, thread);
    for (unsigned i = 0; i < n_after; i++)
        raddle_linear_add(scenario, after[i], 2, 0);
    if (scenario->n_calls)
        return;
    unsigned number = 0;
    for (unsigned i = 0; i < n_before; i++)
        raddle_linear_add(scenario, 1 + number++ % n_choices, 0, 0);
    for (unsigned round = 0; round < n_each; round++)
        for (unsigned thread = 0; thread < n_threads; thread++)
            raddle_linear_add(scenario, 1 + number++ % n_choices, 1, thread);
    for (unsigned i = 0; i < n_after; i++)
        raddle_linear_add(scenario, 1 + number++ % n_choices, 2, 0);
}

static inline void *raddle_linear_create(const struct raddle_linear *test) {
    return test->create_model ? test->create_model() : test->create();
}

static inline void raddle_linear_destroy(const struct raddle_linear *test, void *model) {
    if (test->create_model) {
        if (test->destroy_model)
            test->destroy_model(model);
    } else if (test->destroy) {
        test->destroy(model);
    }
}

static inline long raddle_linear_apply(const struct raddle_linear *test, void *model, const struct raddle_call *call) {
    if (!test->create_model)
        return test->call ? test->call(test, call->op, model, call->argument)
                          : test->ops[call->op].call(model, call->argument);
    return test->call_model ? test->call_model(test, call->op, model, call->argument)
                            : test->ops[call->op].model(model, call->argument);
}

/* Must one call come before another? */
static inline int raddle_linear_before(const struct raddle_scenario *scenario, unsigned one, unsigned other) {
    const struct raddle_call *a = &scenario->calls[one], *b = &scenario->calls[other];
    if (a->part != b->part)
        return a->part < b->part;
    if (a->column == b->column)
        return one < other;
    /* If neither took a step, nobody knows which was first. */
    int is_at_once = a->span.invoked == b->span.returned && a->span.returned == b->span.invoked;
    return scenario->test->consistency == 0 && a->span.returned <= b->span.invoked && !is_at_once;
}

/* Does the order in which the calls returned give their results? It nearly always does. */
static inline int raddle_linear_is_simple(const struct raddle_scenario *scenario) {
    const struct raddle_linear *test = scenario->test;
    unsigned order[RADDLE_CALLS_MAX];
    unsigned n = scenario->n_calls;
    for (unsigned i = 0; i < n; i++) {
        const struct raddle_call *call = &scenario->calls[i];
        unsigned at = i;
        for (; at; at--) {
            const struct raddle_call *last = &scenario->calls[order[at - 1]];
            if (last->part < call->part || (last->part == call->part && last->span.returned <= call->span.returned))
                break;
            order[at] = order[at - 1];
        }
        order[at] = i;
    }
    void *model = raddle_linear_create(test);
    unsigned i = 0;
    while (i < n && raddle_linear_apply(test, model, &scenario->calls[order[i]]) == scenario->calls[order[i]].result)
        i++;
    raddle_linear_destroy(test, model);
    return i == n;
}

/* What a call returns after those that are taken. */
static inline long raddle_linear_replay(const struct raddle_order_search *search, unsigned next) {
    const struct raddle_scenario *scenario = search->scenario;
    void *model = raddle_linear_create(scenario->test);
    for (unsigned i = 0; i < search->n_taken; i++)
        raddle_linear_apply(scenario->test, model, &scenario->calls[search->taken[i]]);
    long result = raddle_linear_apply(scenario->test, model, &scenario->calls[next]);
    raddle_linear_destroy(scenario->test, model);
    return result;
}

/* Can those that are not yet done follow? (Wing and Gong, 1993.) */
static inline int raddle_linear_follow(struct raddle_order_search *search, unsigned long long done) {
    struct raddle_scenario *scenario = search->scenario;
    unsigned n_refused = 0;
    if (search->n_taken == scenario->n_calls)
        return 1;
    unsigned refused[RADDLE_CALLS_MAX];
    long expected[RADDLE_CALLS_MAX];
    for (unsigned i = 0; i < scenario->n_calls; i++) {
        if (done >> i & 1 || search->first[i] & ~done)
            continue;
        long result = raddle_linear_replay(search, i);
        if (result != scenario->calls[i].result) {
            refused[n_refused] = i;
            expected[n_refused++] = result;
            continue;
        }
        search->taken[search->n_taken++] = i;
        if (raddle_linear_follow(search, done | 1ull << i))
            return 1;
        search->n_taken--;
    }
    if (n_refused && search->n_explained <= search->n_taken) {
        search->n_explained = search->n_taken;
        search->n_refused = n_refused;
        for (unsigned i = 0; i < search->n_taken; i++)
            search->explained[i] = search->taken[i];
        for (unsigned i = 0; i < n_refused; i++) {
            search->refused[i] = refused[i];
            search->expected[i] = expected[i];
        }
    }
    return 0;
}

static inline const char *raddle_linear_text(char *text, long value) {
    if (value == RADDLE_VOID)
        return "()";
    if (value == RADDLE_NONE)
        return "none";
    snprintf(text, RADDLE_TEXT_MAX, "%ld", value);
    return text;
}

/* Says that no order explains the calls. */
static inline void raddle_linear_report(struct raddle_order_search *search) {
    const struct raddle_scenario *scenario = search->scenario;
    static struct raddle_operation operations[RADDLE_CALLS_MAX];
    static struct raddle_refused refused[RADDLE_CALLS_MAX];
    static char texts[3][RADDLE_CALLS_MAX][RADDLE_TEXT_MAX];
    for (unsigned i = 0; i < scenario->n_calls; i++) {
        const struct raddle_call *call = &scenario->calls[i];
        const struct raddle_op *op = &scenario->test->ops[call->op];
        if (op->n_arguments)
            snprintf(texts[0][i], RADDLE_TEXT_MAX, "%s(%ld)", op->name, call->argument);
        else
            snprintf(texts[0][i], RADDLE_TEXT_MAX, "%s()", op->name);
        operations[i].span = call->span;
        operations[i].call = texts[0][i];
        operations[i].result = raddle_linear_text(texts[1][i], call->result);
    }
    for (unsigned i = 0; i < search->n_refused; i++) {
        refused[i].operation = search->refused[i];
        refused[i].expected = raddle_linear_text(texts[2][i], search->expected[i]);
    }
    struct raddle_history history = {
        scenario->test->consistency, scenario->n_calls, operations, search->n_explained, search->explained,
        search->n_refused, refused};
    raddle_not_linearizable(&history);
    fprintf(stderr, "not linearizable: no order of these operations gives these results\n");
    for (unsigned i = 0; i < scenario->n_calls; i++)
        fprintf(stderr, "  %s = %s\n", operations[i].call, operations[i].result);
    abort();
}

/* One execution. */
static inline void raddle_linear_run(void *arg) {
    const struct raddle_linear *test = (const struct raddle_linear *)arg;
    struct raddle_scenario scenario;
    scenario.test = test;
    scenario.n_calls = 0;
    raddle_linear_draw(&scenario);
    scenario.state = test->create();
    for (unsigned i = 0; i < scenario.n_calls; i++)
        if (scenario.calls[i].part == 0)
            raddle_linear_call(&scenario, &scenario.calls[i]);
    pthread_t threads[RADDLE_THREADS_MAX];
    struct raddle_worker workers[RADDLE_THREADS_MAX];
    unsigned n_threads = test->n_threads ? test->n_threads : 2;
    if (n_threads > RADDLE_THREADS_MAX)
        n_threads = RADDLE_THREADS_MAX;
    for (unsigned i = 0; i < n_threads; i++) {
        workers[i].scenario = &scenario;
        workers[i].column = i;
        if (pthread_create(&threads[i], NULL, raddle_linear_work, &workers[i]))
            abort();
    }
    for (unsigned i = 0; i < n_threads; i++)
        pthread_join(threads[i], NULL);
    for (unsigned i = 0; i < scenario.n_calls; i++)
        if (scenario.calls[i].part == 2)
            raddle_linear_call(&scenario, &scenario.calls[i]);
    if (test->destroy)
        test->destroy(scenario.state);
    if (raddle_linear_is_simple(&scenario))
        return;
    struct raddle_order_search search;
    search.scenario = &scenario;
    search.n_taken = search.n_explained = search.n_refused = 0;
    for (unsigned i = 0; i < scenario.n_calls; i++) {
        search.first[i] = 0;
        for (unsigned j = 0; j < scenario.n_calls; j++)
            if (raddle_linear_before(&scenario, j, i))
                search.first[i] |= 1ull << j;
    }
    if (!raddle_linear_follow(&search, 0))
        raddle_linear_report(&search);
}

/* Explores scenarios and schedules, within the budget of the command line. */
static inline void raddle_linear_check(const struct raddle_linear *test) {
    raddle_check(raddle_linear_run, (void *)test);
}

#endif
