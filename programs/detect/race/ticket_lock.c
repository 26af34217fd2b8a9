//@ none
// A ticket lock.
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

static atomic_uint next, serving;
static int count;

static void add(void)
{
    unsigned mine = atomic_fetch_add_explicit(&next, 1, memory_order_relaxed);
    while (atomic_load_explicit(&serving, memory_order_acquire) != mine) {
    }
    count++;
    atomic_store_explicit(&serving, mine + 1, memory_order_release);
}

static void *first(void *arg)
{
    add();
    return arg;
}

static void *second(void *arg)
{
    add();
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
