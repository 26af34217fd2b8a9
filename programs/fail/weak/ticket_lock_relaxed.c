//@ expect: assert
//@ execs: 1000
//@ memory-model: c11
//@ unnamed: &serving, memory_order_relaxed) != ticket
//@ says: total T1 T2
// A ticket lock that waits for its turn with relaxed loads: it does not see what was done under the lock before.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

static atomic_int next, serving, total;

static void *add(void *arg)
{
    (void)arg;
    int ticket = atomic_fetch_add_explicit(&next, 1, memory_order_relaxed);
    while (atomic_load_explicit(&serving, memory_order_relaxed) != ticket)
        ;
    int old = atomic_load_explicit(&total, memory_order_relaxed);
    assert(old == ticket);
    atomic_store_explicit(&total, old + 1, memory_order_relaxed);
    atomic_store_explicit(&serving, ticket + 1, memory_order_release);
    return NULL;
}

int main(void)
{
    pthread_t t[2];
    for (int i = 0; i < 2; i++)
        pthread_create(&t[i], NULL, add, NULL);
    for (int i = 0; i < 2; i++)
        pthread_join(t[i], NULL);
    return 0;
}
