//@ none
// A spin lock by hand.
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

static atomic_int taken;
static int count;

static void lock(void)
{
    while (atomic_exchange_explicit(&taken, 1, memory_order_acquire)) {
    }
}

static void unlock(void)
{
    atomic_store_explicit(&taken, 0, memory_order_release);
}

static void *first(void *arg)
{
    lock();
    count++;
    unlock();
    return arg;
}

static void *second(void *arg)
{
    lock();
    count++;
    unlock();
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
