//@ expect: assert
//@ execs: 200
//@ cause: long seen = atomic_load(&counter->hits); | atomic_store(&counter->hits, seen + 1);
//@ says: Counter.hits T1 T2
// A lost update in memory that was copied as a whole before: the reason names the field, not the block.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

struct Counter {
    long strong, weak;
    atomic_long hits;
};

static void add(struct Counter *counter)
{
    long seen = atomic_load(&counter->hits);
    atomic_store(&counter->hits, seen + 1);
}

static void *second(void *arg)
{
    add(arg);
    return arg;
}

static void *first(void *arg)
{
    struct Counter *counter = malloc(sizeof *counter);
    memcpy(counter, arg, sizeof *counter);
    pthread_t thread;
    pthread_create(&thread, NULL, second, counter);
    add(counter);
    pthread_join(thread, NULL);
    assert(atomic_load(&counter->hits) == 2);
    return arg;
}

int main(void)
{
    struct Counter zero = {1, 1, 0};
    pthread_t thread;
    pthread_create(&thread, NULL, first, &zero);
    pthread_join(thread, NULL);
    return 0;
}
