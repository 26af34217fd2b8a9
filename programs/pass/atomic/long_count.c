//@ expect: pass
//@ execs: 2
// More than a million steps in which no state repeats: a long computation, not a livelock.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

enum { ROUNDS = 520000 };
static atomic_int count;

static void *add(void *arg)
{
    for (int i = 0; i < ROUNDS; i++)
        atomic_fetch_add(&count, 1);
    return arg;
}

int main(void)
{
    pthread_t thread;
    pthread_create(&thread, NULL, add, NULL);
    add(NULL);
    pthread_join(thread, NULL);
    assert(count == 2 * ROUNDS);
    return 0;
}
