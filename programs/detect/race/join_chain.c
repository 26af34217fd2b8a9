//@ none
// Joining a thread also orders what the threads did that it joined.
#include <pthread.h>

static int data;
int seen; // what is never looked at would not be read

static void *inner(void *arg)
{
    data = 42;
    return arg;
}

static void *outer(void *arg)
{
    pthread_t thread;
    pthread_create(&thread, NULL, inner, NULL);
    pthread_join(thread, NULL);
    return arg;
}

int main(void)
{
    pthread_t thread;
    pthread_create(&thread, NULL, outer, NULL);
    pthread_join(thread, NULL);
    seen = data;
    return 0;
}
