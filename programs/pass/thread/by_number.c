//@ expect: pass
//@ execs: 100
// Calls that take a thread's number, or are about the thread that makes them.
#define _GNU_SOURCE
#include <assert.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

static pthread_barrier_t all;
static pid_t ids[2];
static volatile sig_atomic_t handled_by;

static void handle(int signal)
{
    (void)signal;
    handled_by = gettid();
}

static void is_on_its_stack(void)
{
    pthread_attr_t attributes;
    void *start;
    size_t size;
    assert(pthread_getattr_np(pthread_self(), &attributes) == 0);
    assert(pthread_attr_getstack(&attributes, &start, &size) == 0);
    uintptr_t here = (uintptr_t)__builtin_frame_address(0);
    assert((uintptr_t)start <= here && here < (uintptr_t)start + size);
    pthread_attr_destroy(&attributes);
}

static void has_a_name(const char *name)
{
    char now[16] = "";
    prctl(PR_SET_NAME, name);
    sched_yield();
    prctl(PR_GET_NAME, now);
    assert(strcmp(now, name) == 0);
    assert(pthread_getname_np(pthread_self(), now, sizeof now) == 0);
    assert(strcmp(now, name) == 0);
}

static void *work(void *arg)
{
    int idx = arg != NULL;
    ids[idx] = gettid();
    cpu_set_t cpus;
    assert(sched_getaffinity(gettid(), sizeof cpus, &cpus) == 0);
    assert(CPU_COUNT(&cpus) > 0);
    assert(sched_getscheduler(gettid()) == SCHED_OTHER);
    assert(getpriority(PRIO_PROCESS, gettid()) == getpriority(PRIO_PROCESS, 0));
    is_on_its_stack();
    has_a_name(idx ? "one" : "zero");
    pthread_barrier_wait(&all);
    if (idx)
        assert(tgkill(getpid(), ids[0], SIGUSR1) == 0);
    pthread_barrier_wait(&all);
    return NULL;
}

int main(void)
{
    static int one;
    pthread_t threads[2];
    signal(SIGUSR1, handle);
    pthread_barrier_init(&all, NULL, 2);
    pthread_create(&threads[0], NULL, work, NULL);
    pthread_create(&threads[1], NULL, work, &one);
    is_on_its_stack();
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    assert(handled_by == ids[0]);
    assert(tgkill(getpid(), ids[0], 0) == -1);
    return 0;
}
