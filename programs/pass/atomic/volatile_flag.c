//@ expect: pass
//@ execs: 100
// Old style: flags that are volatile, waited for without a pause. Nobody has touched them before.
#include <assert.h>
#include <pthread.h>

static volatile int started, may_go, is_done;
static int result;

static void *run(void *arg)
{
    started = 1;
    while (!may_go) {
    }
    result = 42;
    is_done = 1;
    return arg;
}

int main(void)
{
    pthread_t thread;
    pthread_create(&thread, NULL, run, NULL);
    while (!started) {
    }
    may_go = 1;
    while (!is_done) {
    }
    assert(result == 42);
    pthread_join(thread, NULL);
    return 0;
}
