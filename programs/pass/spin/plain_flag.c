//@ expect: pass
//@ execs: 100
//@ flags: -O0
//@ racy: on purpose
// A plain flag is read until it is set. Its reads are no steps before anybody has raced for it, but whoever only reads
// gives way. (The race itself is found by the detector: programs/detect.)
#include <pthread.h>

static int flag, limit = 1;

static void *set(void *arg)
{
    flag = 1;
    return arg;
}

int main(void)
{
    pthread_t thread;
    pthread_create(&thread, NULL, set, NULL);
    while (flag < limit)
        ;
    pthread_join(thread, NULL);
    return 0;
}
