//@ expect: assert
//@ execs: 1000
//@ cause: while (is_taken[block]) | is_taken[block] = 1;
//@ says: is_taken T1 T2
// Two threads allocate blocks from a vector, use them, and give them back: "find a free one" and "mark it as taken" are
// two steps. The other thread must come in between, and be stopped before it gives its block back: two preemptions.
#include <assert.h>
#include <pthread.h>

#ifndef N
#define N 2
#endif
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static volatile int is_taken[2];
static int n_allocated;

static int find_free(void)
{
    int block = 0;
    while (is_taken[block])
        block++;
    return block;
}

static void mark(int block)
{
    assert(!is_taken[block]);
    is_taken[block] = 1;
}

static void *allocate(void *arg)
{
    for (int i = 0; i < N; i++) {
        pthread_mutex_lock(&lock);
        n_allocated++;
        pthread_mutex_unlock(&lock);
        int block = find_free();
        mark(block);
        is_taken[block] = 0;
    }
    return arg;
}

int main(void)
{
    pthread_t a, b;
    pthread_create(&a, NULL, allocate, NULL);
    pthread_create(&b, NULL, allocate, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return 0;
}
