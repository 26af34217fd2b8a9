//@ race: a b
//@ flags: -O0
// A thread that polls a plain flag must yield before any race on the flag was seen.
#include <pthread.h>

static int flag;

static void *set(void *arg)
{
    flag = 1; //= a
    return arg;
}

int main(void)
{
    pthread_t thread;
    pthread_create(&thread, NULL, set, NULL);
    while (!flag) //= b
        ;
    pthread_join(thread, NULL);
    return 0;
}
