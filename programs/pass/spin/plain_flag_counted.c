//@ expect: pass
//@ execs: 50
//@ racy: on purpose
//@ flags: -O0
// The same with a counter in memory, so that no two rounds read the same.
#include <pthread.h>

static int flag;
static long rounds;

static void *set(void *arg)
{
    flag = 1;
    return arg;
}

int main(void)
{
    pthread_t thread;
    pthread_create(&thread, NULL, set, NULL);
    while (!flag)
        rounds++;
    pthread_join(thread, NULL);
    return 0;
}
