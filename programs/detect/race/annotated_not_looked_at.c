//@ none
// Neither function is instrumented.
#include <pthread.h>

static int count;

__attribute__((no_sanitize("thread"))) static void *first(void *arg)
{
    count++;
    return arg;
}

__attribute__((no_sanitize("thread"))) static void *second(void *arg)
{
    count++;
    return arg;
}

int main(void)
{
    pthread_t a, b;
    pthread_create(&a, NULL, first, NULL);
    pthread_create(&b, NULL, second, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return 0;
}
