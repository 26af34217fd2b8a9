//@ expect: pass
//@ execs: 50
// The kernel's thread id can be used in system calls: to get and set the scheduling policy, to send a
// signal, and to find it below /proc.
#define _GNU_SOURCE
#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

struct attributes {
    unsigned size, policy;
    unsigned long long flags;
    int nice;
    unsigned priority;
    unsigned long long runtime, deadline, period;
};

static pid_t numbers[2];

static void scheduling(pid_t me)
{
    struct attributes attributes = { .size = sizeof attributes };
    assert(syscall(SYS_sched_getattr, me, &attributes, sizeof attributes, 0) == 0);
    assert(syscall(SYS_sched_setattr, me, &attributes, 0) == 0);
    cpu_set_t set;
    CPU_ZERO(&set);
    assert(sched_getaffinity(me, sizeof set, &set) == 0);
    assert(sched_setaffinity(me, sizeof set, &set) == 0);
    assert(syscall(SYS_sched_getaffinity, me, sizeof set, &set) > 0);
    errno = 0;
    int priority = getpriority(PRIO_PROCESS, me);
    assert(errno == 0 && setpriority(PRIO_PROCESS, me, priority) == 0);
    struct sched_param param;
    assert(sched_getscheduler(me) >= 0 && sched_getparam(me, &param) == 0);
}

static void files(pid_t me)
{
    char path[64];
    struct stat status;
    snprintf(path, sizeof path, "/proc/self/task/%d", me);
    assert(stat(path, &status) == 0 && access(path, F_OK) == 0);
    snprintf(path, sizeof path, "/proc/%d/task/%d/stat", getpid(), me);
    FILE *file = fopen(path, "r");
    assert(file);
    fclose(file);
}

static void *work(void *arg)
{
    pid_t me = gettid();
    numbers[(long)arg] = me;
    assert(me == syscall(SYS_gettid));
    scheduling(me);
    assert(tgkill(getpid(), me, 0) == 0 && syscall(SYS_tgkill, getpid(), me, 0) == 0);
    clockid_t clock;
    struct timespec now;
    assert(pthread_getcpuclockid(pthread_self(), &clock) == 0 && clock_gettime(clock, &now) == 0);
    files(me);
    return NULL;
}

int main(void)
{
    pthread_t one, other;
    pthread_create(&one, NULL, work, (void *)0);
    pthread_create(&other, NULL, work, (void *)1);
    pthread_join(one, NULL);
    pthread_join(other, NULL);
    assert(numbers[0] != numbers[1] && numbers[0] != getpid() && numbers[1] != getpid());
    return 0;
}
