//@ none
//@ tsan: differs: a switch that is said to order nothing does not, there; here fibers of one thread never race
// A switch to a fiber, with the flag that makes it no synchronisation.
#include <pthread.h>

void *__tsan_create_fiber(unsigned flags);
void *__tsan_get_current_fiber(void);
void __tsan_switch_to_fiber(void *fiber, unsigned flags);

#define NO_ORDER 1

int data;

static void *work(void *arg)
{
    void *own = __tsan_get_current_fiber();
    void *fiber = __tsan_create_fiber(0);
    data = 1;
    __tsan_switch_to_fiber(fiber, NO_ORDER);
    data = 2;
    __tsan_switch_to_fiber(own, NO_ORDER);
    return arg;
}

int main(void)
{
    pthread_t thread;
    pthread_create(&thread, NULL, work, NULL);
    pthread_join(thread, NULL);
    return 0;
}
