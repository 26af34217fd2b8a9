//@ none
// A fiber resumes on another thread: what it did before is ordered before what follows.
#include <pthread.h>
#include <stdatomic.h>

void *__tsan_create_fiber(unsigned flags);
void *__tsan_get_current_fiber(void);
void __tsan_switch_to_fiber(void *fiber, unsigned flags);

static void *fiber;
static atomic_int turn;
static int data;

static void count(void)
{
    void *own = __tsan_get_current_fiber();
    __tsan_switch_to_fiber(fiber, 0);
    data++;
    __tsan_switch_to_fiber(own, 0);
}

static void *first(void *arg)
{
    count();
    atomic_store_explicit(&turn, 1, memory_order_relaxed);
    return arg;
}

static void *second(void *arg)
{
    while (!atomic_load_explicit(&turn, memory_order_relaxed))
        ;
    count();
    return arg;
}

int main(void)
{
    pthread_t a, b;
    fiber = __tsan_create_fiber(0);
    pthread_create(&a, NULL, first, NULL);
    pthread_create(&b, NULL, second, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return 0;
}
