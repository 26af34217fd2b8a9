//@ expect: misuse
//@ execs: 200
//@ cause: number = 1000;
//@ says: text T1
// There is room for three digits: another thread makes it four.
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int number = 999;

static void *writer(void *arg)
{
    char *text = malloc(4);
    pthread_mutex_lock(&lock);
    sprintf(text, "%d", number);
    pthread_mutex_unlock(&lock);
    free(text);
    return arg;
}

static void *counter(void *arg)
{
    pthread_mutex_lock(&lock);
    number = 1000;
    pthread_mutex_unlock(&lock);
    return arg;
}

int main(void)
{
    pthread_t a, b;
    pthread_create(&a, NULL, writer, NULL);
    pthread_create(&b, NULL, counter, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return 0;
}
