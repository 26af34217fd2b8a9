//@ expect: assert
//@ execs: 50
//@ cause: atomic_store(&is_ready, 1); | assert(atomic_load(&is_ready));
//@ says: is_ready T0 T1
// A timer of half a second goes off before a thread that has to sleep for a whole one is ready: a timer's deadline is one as
// a sleep's is. The thread need not sleep if the disk is already awake.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <sys/timerfd.h>
#include <unistd.h>

static atomic_int is_awake, is_ready;

static void *prepare(void *arg)
{
    if (!atomic_exchange(&is_awake, 1))
        sleep(1);
    atomic_store(&is_ready, 1);
    return arg;
}

int main(void)
{
    struct itimerspec spec = { .it_value = { 0, 500000000 } };
    int fd = timerfd_create(CLOCK_MONOTONIC, 0);
    timerfd_settime(fd, 0, &spec, NULL);
    pthread_t thread;
    uint64_t n_times;
    pthread_create(&thread, NULL, prepare, NULL);
    atomic_store(&is_awake, 1);
    assert(read(fd, &n_times, sizeof n_times) == sizeof n_times);
    assert(atomic_load(&is_ready));
    pthread_join(thread, NULL);
    return 0;
}
