//@ expect: misuse
//@ execs: 100
//@ says: T1
// A message that is a variable of `main` is freed by the thread that it was passed to.
#include <pthread.h>
#include <stdlib.h>

static void *consumer(void *arg)
{
    free(arg);
    return NULL;
}

int main(void)
{
    char message[32] = "hello";
    pthread_t a;
    pthread_create(&a, NULL, consumer, message);
    pthread_join(a, NULL);
    return message[0] == 0;
}
