//@ races among: a b c d e f g h
// Old style: flags that are volatile, waited for without a pause. Volatile orders nothing: each of them is a race, and
// so is what they were meant to pass on. But a thread that waits for one is not blocked forever.
#include <assert.h>
#include <pthread.h>

static volatile int started, may_go, is_done;
static int result;

static void *run(void *arg)
{
    started = 1; //= a
    while (!may_go) { //= b
    }
    result = 42; //= c
    is_done = 1; //= d
    return arg;
}

int main(void)
{
    pthread_t thread;
    pthread_create(&thread, NULL, run, NULL);
    while (!started) { //= e
    }
    may_go = 1; //= f
    while (!is_done) { //= g
    }
    assert(result == 42); //= h
    pthread_join(thread, NULL);
    return 0;
}
