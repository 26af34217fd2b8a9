// What is known of the web, and what is to be downloaded next: a hash table of addresses and a heap of tasks.
#ifndef SPIDER_FRONTIER_H
#define SPIDER_FRONTIER_H

#include <pthread.h>

#include "settings.h"

enum { KNOWN_MAX = 16, SLOTS = 32 };

/* ---- addresses that were seen --------------------------------------------------------------------------- */

struct known {
    unsigned hash;
    char address[ADDRESS_MAX];
};

static pthread_mutex_t known_lock = PTHREAD_MUTEX_INITIALIZER;
static struct known known[KNOWN_MAX];
static int n_known;
/* By hash: the number of an address, from 1. */
static int slots[SLOTS];

/* The number of an address that was not seen before; -1 if it was, or there is no room. */
static inline int remember(const char *address)
{
    unsigned hash = hash_of(address);
    int number = -1;
    pthread_mutex_lock(&known_lock);
    for (unsigned slot = hash % SLOTS;; slot = (slot + 1) % SLOTS) {
        if (slots[slot] == 0) {
            if (n_known < KNOWN_MAX) {
                number = n_known++;
                slots[slot] = number + 1;
                known[number].hash = hash;
                strcpy(known[number].address, address);
            }
            break;
        }
        const struct known *other = &known[slots[slot] - 1];
        if (other->hash == hash && strcmp(other->address, address) == 0)
            break;
    }
    pthread_mutex_unlock(&known_lock);
    return number;
}

static inline void address_of(int number, char *address)
{
    pthread_mutex_lock(&known_lock);
    strcpy(address, known[number].address);
    pthread_mutex_unlock(&known_lock);
}

/* ---- tasks ---------------------------------------------------------------------------------------------- */

struct task {
    int number;
    int depth;
    int priority;
    /* Of equal priority, in the order in which they came. */
    int order;
};

static pthread_mutex_t frontier_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t frontier_changed = PTHREAD_COND_INITIALIZER;
static struct task heap[KNOWN_MAX];
static int n_tasks, n_ordered, n_running;

static inline int comes_before(struct task one, struct task other)
{
    return one.priority != other.priority ? one.priority < other.priority : one.order < other.order;
}

static inline void swap_tasks(int one, int other)
{
    struct task task = heap[one];
    heap[one] = heap[other];
    heap[other] = task;
}

/* With the lock. */
static inline void push_task(struct task task)
{
    int at = n_tasks++;
    task.order = n_ordered++;
    heap[at] = task;
    while (at > 0 && comes_before(heap[at], heap[(at - 1) / 2])) {
        swap_tasks(at, (at - 1) / 2);
        at = (at - 1) / 2;
    }
}

/* With the lock. */
static inline struct task pop_task(void)
{
    struct task first = heap[0];
    heap[0] = heap[--n_tasks];
    for (int at = 0;;) {
        int child = 2 * at + 1;
        if (child >= n_tasks)
            return first;
        if (child + 1 < n_tasks && comes_before(heap[child + 1], heap[child]))
            child++;
        if (!comes_before(heap[child], heap[at]))
            return first;
        swap_tasks(at, child);
        at = child;
    }
}

/* A task; 0 if there will be no more. Who finds none waits, for others may still find links. */
static inline int next_task(struct task *task)
{
    pthread_mutex_lock(&frontier_lock);
    while (n_tasks == 0 && n_running > 0)
        pthread_cond_wait(&frontier_changed, &frontier_lock);
    int is_there = n_tasks > 0;
    if (is_there) {
        *task = pop_task();
        n_running++;
    }
    pthread_mutex_unlock(&frontier_lock);
    return is_there;
}

static inline void finish_task(void)
{
    pthread_mutex_lock(&frontier_lock);
    n_running--;
    if (n_running == 0)
        pthread_cond_broadcast(&frontier_changed);
    pthread_mutex_unlock(&frontier_lock);
}

/* Adds what is new and wanted of the links of a page. */
static inline void add_address(const struct settings *settings, const struct address *address, int depth)
{
    char text[ADDRESS_MAX];
    write_address(address, text);
    if (depth > settings->depth_max || matches_any(&settings->exclude, text))
        return;
    int number = remember(text);
    if (number < 0)
        return;
    struct task task = {.number = number, .depth = depth, .priority = priority_of(settings, text, depth)};
    pthread_mutex_lock(&frontier_lock);
    push_task(task);
    pthread_cond_signal(&frontier_changed);
    pthread_mutex_unlock(&frontier_lock);
}

/* ---- checkpoints ---------------------------------------------------------------------------------------- */

/* Writes down what is to be downloaded, in the order of the heap. */
static inline int write_tasks(struct text *text)
{
    pthread_mutex_lock(&frontier_lock);
    int n = n_tasks;
    for (int i = 0; i < n; i++)
        text_print(text, "%d %d\n", heap[i].number, heap[i].depth);
    pthread_mutex_unlock(&frontier_lock);
    return n;
}

/* Reads it back: how many tasks there are; -1 if it is broken. */
static inline int read_tasks(const char *text)
{
    char line[24];
    int n = 0;
    while (next_line(&text, line, sizeof line)) {
        const char *depth = strchr(line, ' ');
        if (number_of(line) < 0 || number_of(line) >= KNOWN_MAX || depth == NULL || number_of(depth + 1) < 0)
            return -1;
        n++;
    }
    return n;
}

#endif
