//@ none
// A lock made by hand, of relaxed atomics, annotated as a lock.
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

void __tsan_mutex_pre_lock(void *address, unsigned flags);
void __tsan_mutex_post_lock(void *address, unsigned flags, int recursion);
int __tsan_mutex_pre_unlock(void *address, unsigned flags);
void __tsan_mutex_post_unlock(void *address, unsigned flags);

static atomic_int taken;
static int count;

static void lock(void)
{
    __tsan_mutex_pre_lock(&taken, 0);
    while (atomic_exchange_explicit(&taken, 1, memory_order_relaxed))
        sched_yield();
    __tsan_mutex_post_lock(&taken, 0, 1);
}

static void unlock(void)
{
    __tsan_mutex_pre_unlock(&taken, 0);
    atomic_store_explicit(&taken, 0, memory_order_relaxed);
    __tsan_mutex_post_unlock(&taken, 0);
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
