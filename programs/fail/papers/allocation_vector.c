//@ expect: assert
//@ execs: 500
//@ cause: while (is_taken[block]) | is_taken[block] = 1;
// Two threads allocate blocks from a vector: "find a free one" and "mark it as taken" are each locked, not
// both together.
#include <assert.h>
#include <pthread.h>

#ifndef N
#define N 4
#endif
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int is_taken[2 * N];

static int find_free(void)
{
    int block = 0;
    pthread_mutex_lock(&lock);
    while (is_taken[block])
        block++;
    pthread_mutex_unlock(&lock);
    return block;
}

static void mark(int block)
{
    pthread_mutex_lock(&lock);
    assert(!is_taken[block]);
    is_taken[block] = 1;
    pthread_mutex_unlock(&lock);
}

static void *allocate(void *arg)
{
    for (int i = 0; i < N; i++)
        mark(find_free());
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
