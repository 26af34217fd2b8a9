//@ expect: misuse
//@ execs: 200
//@ cause: const char *text = message; | free(message);
//@ says: T1 T2
//@ undetected: the message is looked up under the lock and printed after it, and no detector looks at that
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static char *message;

static void *printer(void *arg)
{
    pthread_mutex_lock(&lock);
    const char *text = message;
    pthread_mutex_unlock(&lock);
    if (text)
        printf("%d: %s\n", 1, text);
    return arg;
}

static void *closer(void *arg)
{
    pthread_mutex_lock(&lock);
    free(message);
    message = NULL;
    pthread_mutex_unlock(&lock);
    return arg;
}

int main(void)
{
    message = strdup("hello, world");
    pthread_t a, b;
    pthread_create(&a, NULL, printer, NULL);
    pthread_create(&b, NULL, closer, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return 0;
}
