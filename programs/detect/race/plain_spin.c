//@ race: a b
//@ flags: -O0
// Whoever waits for a plain flag by reading it must give way before anybody has raced for it.
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
