//@ expect: pass
//@ execs: 200
// exit() is called by one thread while another works and main waits; atexit handlers run last to first.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

static atomic_int ticks;
static int order;

static void second(void)
{
    if (order != 1)
        _Exit(8);
}

static void first(void)
{
    order = 1;
}

static void *ticker(void *arg)
{
    (void)arg;
    for (int i = 0; i < 10; i++)
        atomic_fetch_add(&ticks, 1);
    return NULL;
}

static void *leaver(void *arg)
{
    (void)arg;
    exit(0);
}

int main(void)
{
    pthread_t a, b;
    atexit(second);
    atexit(first);
    pthread_create(&a, NULL, ticker, NULL);
    pthread_create(&b, NULL, leaver, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL); // never comes back
    return 7;
}
