//@ race: a b
// Written to the pipe one line too early.
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>

static int ends[2], data;
int seen; // what is never looked at would not be read

static void *first(void *arg)
{
    if (write(ends[1], "x", 1) != 1)
        abort();
    data = 42; //= a
    return arg;
}

static void *second(void *arg)
{
    char byte;
    if (read(ends[0], &byte, 1) != 1)
        abort();
    seen = data; //= b
    return arg;
}

int main(void)
{
    pthread_t a, b;
    if (pipe(ends))
        return 1;
    pthread_create(&a, NULL, first, NULL);
    pthread_create(&b, NULL, second, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return 0;
}
