//@ expect: pass
//@ execs: 200
//@ flags: -Wno-tsan
// Message passing with relaxed atomics and a release/acquire pair of fences; the reader does not wait.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

static int message;
static atomic_int sent;

static void *sender(void *arg)
{
    (void)arg;
    message = 7;
    atomic_thread_fence(memory_order_release);
    atomic_store_explicit(&sent, 1, memory_order_relaxed);
    return NULL;
}

static void *receiver(void *arg)
{
    (void)arg;
    if (atomic_load_explicit(&sent, memory_order_relaxed)) {
        atomic_thread_fence(memory_order_acquire);
        assert(message == 7);
    }
    return NULL;
}

int main(void)
{
    pthread_t a, b, c;
    pthread_create(&a, NULL, sender, NULL);
    pthread_create(&b, NULL, receiver, NULL);
    pthread_create(&c, NULL, receiver, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    pthread_join(c, NULL);
    return 0;
}
