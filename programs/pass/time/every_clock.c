//@ expect: pass
//@ execs: 100
// Sleeps last as long as they say, by every clock; all clocks go on; processors are counted the same.
#define _GNU_SOURCE
#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/sysinfo.h>
#include <sys/time.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>

static long long now(clockid_t clock)
{
    struct timespec t;
    assert(clock_gettime(clock, &t) == 0);
    return t.tv_sec * 1000000000LL + t.tv_nsec;
}

static void *sleeper(void *arg)
{
    long long before = now(CLOCK_MONOTONIC), wall = now(CLOCK_REALTIME);
    usleep(3000);
    assert(now(CLOCK_MONOTONIC) - before >= 3000000 && now(CLOCK_REALTIME) - wall >= 3000000);
    return arg;
}

int main(void)
{
    struct timespec t = {0, 2000000}, bad = {0, 1000000000}, neg = {-1, 0}, raw;
    struct timeval v;
    long long before = now(CLOCK_MONOTONIC);
    assert(nanosleep(&t, NULL) == 0 && now(CLOCK_MONOTONIC) - before >= 2000000);
    assert(nanosleep(&bad, NULL) == -1 && errno == EINVAL && nanosleep(&neg, NULL) == -1);
    assert(clock_nanosleep(CLOCK_REALTIME, 0, &bad, NULL) == EINVAL);
    assert(clock_nanosleep(99, 0, &t, NULL) == EINVAL);
    long long until = now(CLOCK_REALTIME) + 5000000;
    struct timespec abs = {until / 1000000000, until % 1000000000};
    assert(clock_nanosleep(CLOCK_REALTIME, TIMER_ABSTIME, &abs, NULL) == 0 && now(CLOCK_REALTIME) >= until);
    assert(sleep(1) == 0 && usleep(0) == 0 && thrd_sleep(&t, NULL) == 0 && thrd_sleep(&bad, NULL) < -1);
    assert(now(CLOCK_MONOTONIC) - before >= 1000000000);
    gettimeofday(&v, NULL);
    time_t seconds = time(NULL), same;
    assert(llabs((long long)v.tv_sec - seconds) <= 1 && time(&same) - seconds <= 1);
    assert(timespec_get(&t, TIME_UTC) == TIME_UTC && timespec_get(&t, 77) == 0);
    assert(syscall(SYS_clock_gettime, CLOCK_REALTIME, &raw) == 0 && raw.tv_sec - seconds <= 1);
    assert(clock() >= 0 && clock_gettime(99, &t) == -1 && errno == EINVAL);
    before = now(CLOCK_MONOTONIC); // polling for time to pass is no livelock
    while (now(CLOCK_MONOTONIC) - before < 50000000)
        ;
    pthread_t threads[2];
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, sleeper, NULL);
    before = now(CLOCK_MONOTONIC);
    while (now(CLOCK_MONOTONIC) - before < 50000000)
        ;
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    cpu_set_t set;
    assert(sched_getaffinity(0, sizeof set, &set) == 0);
    assert(CPU_COUNT(&set) == get_nprocs() && sysconf(_SC_NPROCESSORS_ONLN) == get_nprocs());
    assert(pthread_getaffinity_np(pthread_self(), sizeof set, &set) == 0 && CPU_COUNT(&set) == get_nprocs());
    assert(sched_getcpu() == 0 && sysconf(_SC_PAGESIZE) == 4096);
    assert(gettid() == getpid() && syscall(SYS_gettid) == getpid());
    return 0;
}
