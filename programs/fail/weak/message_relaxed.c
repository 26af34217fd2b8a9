//@ expect: assert
//@ execs: 300
//@ memory-model: c11
//@ cause: &ready, 1, memory_order_relaxed | if (atomic_load_explicit(&ready
//@ says: message T1 T2
// Message passing with a relaxed flag: whoever sees the flag need not see the message.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

static atomic_int message, ready;

static void *sender(void *arg)
{
    (void)arg;
    atomic_store_explicit(&message, 42, memory_order_relaxed);
    atomic_store_explicit(&ready, 1, memory_order_relaxed);
    return NULL;
}

static void *receiver(void *arg)
{
    (void)arg;
    if (atomic_load_explicit(&ready, memory_order_acquire))
        assert(atomic_load_explicit(&message, memory_order_relaxed) == 42);
    return NULL;
}

int main(void)
{
    pthread_t s, r;
    pthread_create(&s, NULL, sender, NULL);
    pthread_create(&r, NULL, receiver, NULL);
    pthread_join(s, NULL);
    pthread_join(r, NULL);
    return 0;
}
