//@ expect: assert
//@ execs: 20
// A timer of half a second goes off before a thread that sleeps for a whole one has done anything: a timer's deadline is one
// as a sleep's is.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <sys/timerfd.h>
#include <unistd.h>

static atomic_int is_ready;

static void *prepare(void *arg)
{
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
    assert(read(fd, &n_times, sizeof n_times) == sizeof n_times);
    assert(atomic_load(&is_ready));
    pthread_join(thread, NULL);
    return 0;
}
