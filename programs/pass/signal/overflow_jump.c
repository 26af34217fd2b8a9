//@ expect: pass
//@ execs: 10
// A program that survives the overflow of its stack, as interpreters do: the handler has a stack of its own.
#include <assert.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>

static _Thread_local sigjmp_buf back;
static atomic_int n_overflows;

static void recover(int signal)
{
    siglongjmp(back, signal);
}

static int deeper(int depth)
{
    char volatile room[1024];
    room[depth % 1024] = 1;
    return deeper(depth + 1) + room[depth % 1024];
}

static void *work(void *arg)
{
    static _Thread_local char own[32768];
    stack_t stack = { .ss_sp = own, .ss_size = sizeof own };
    sigaltstack(&stack, NULL);
    if (sigsetjmp(back, 1) == 0)
        deeper(0);
    atomic_fetch_add(&n_overflows, 1);
    return arg;
}

int main(void)
{
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_handler = recover;
    action.sa_flags = SA_ONSTACK;
    sigaction(SIGSEGV, &action, NULL);
    pthread_t thread;
    pthread_create(&thread, NULL, work, NULL);
    pthread_join(thread, NULL);
    work(NULL);
    assert(n_overflows == 2);
    return 0;
}
