//@ expect: pass
//@ execs: 200
// A `main` that returns nothing: what is left in the register is not an exit code.
#include <pthread.h>

static void *work(void *arg)
{
    return arg;
}

void main(void)
{
    pthread_t thread;
    pthread_create(&thread, 0, work, 0);
    pthread_join(thread, 0);
}
