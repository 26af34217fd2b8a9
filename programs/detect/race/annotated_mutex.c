//@ none
// A lock made by hand, and annotated: accesses to its own words are ignored, and it synchronises.
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

void __tsan_mutex_create(void *lock, unsigned flags);
void __tsan_mutex_destroy(void *lock, unsigned flags);
void __tsan_mutex_pre_lock(void *lock, unsigned flags);
void __tsan_mutex_post_lock(void *lock, unsigned flags, int recursion);
int __tsan_mutex_pre_unlock(void *lock, unsigned flags);
void __tsan_mutex_post_unlock(void *lock, unsigned flags);

static struct {
    atomic_int is_held;
    int n_taken; // for the curious, who look at it without the lock
} lock;
static int count;

static void take(void)
{
    __tsan_mutex_pre_lock(&lock, 0);
    while (atomic_exchange_explicit(&lock.is_held, 1, memory_order_relaxed))
        sched_yield();
    lock.n_taken++;
    __tsan_mutex_post_lock(&lock, 0, 0);
}

static void give_back(void)
{
    __tsan_mutex_pre_unlock(&lock, 0);
    atomic_store_explicit(&lock.is_held, 0, memory_order_relaxed);
    __tsan_mutex_post_unlock(&lock, 0);
}

static void *worker(void *arg)
{
    take();
    count++;
    give_back();
    return arg;
}

int main(void)
{
    pthread_t a, b;
    __tsan_mutex_create(&lock, 0);
    pthread_create(&a, NULL, worker, NULL);
    pthread_create(&b, NULL, worker, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    __tsan_mutex_destroy(&lock, 0);
    return count - 2;
}
