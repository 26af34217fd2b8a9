//@ expect: pass
//@ execs: 200
// A checked function may return while its thread has nothing left to do but finish.
#include <pthread.h>
#include <raddle.h>
#include <stdatomic.h>

static atomic_int n_done;

static void *work(void *arg)
{
    atomic_fetch_add(&n_done, 1);
    return arg;
}

static void one_is_left(void *arg)
{
    pthread_t thread;
    pthread_create(&thread, NULL, work, arg);
    pthread_detach(thread);
    while (atomic_load(&n_done) == 0)
        ;
    atomic_store(&n_done, 0);
}

int main(void)
{
    raddle_check(one_is_left, NULL);
    return 0;
}
