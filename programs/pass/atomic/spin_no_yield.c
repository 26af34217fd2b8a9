//@ expect: pass
//@ execs: 200
// Spinning on an atomic without yielding: a chain of three threads, each waits for the one before.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>

static atomic_int stage;
static int log_[3];

static void *runner(void *arg)
{
    int me = (int)(intptr_t)arg;
    while (atomic_load_explicit(&stage, memory_order_acquire) != me)
        ;
    log_[me] = me ? log_[me - 1] * 2 : 1;
    atomic_store_explicit(&stage, me + 1, memory_order_release);
    return NULL;
}

int main(void)
{
    pthread_t t[3];
    for (int i = 2; i >= 0; i--)
        pthread_create(&t[i], NULL, runner, (void *)(intptr_t)i);
    while (atomic_load(&stage) != 3)
        ;
    assert(log_[2] == 4);
    for (int i = 0; i < 3; i++)
        pthread_join(t[i], NULL);
    return 0;
}
