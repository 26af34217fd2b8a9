//@ expect: pass
//@ execs: 100
// A handler of faults that leaves by `siglongjmp`, as probes of memory and interpreters do: the program goes on, with or
// without a stack of its own for handlers, and its threads are scheduled as before.
#include <assert.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

static _Thread_local sigjmp_buf back;
static atomic_int n_faults;
static volatile int zero;

static void recover(int signal, siginfo_t *info, void *context)
{
    (void)context;
    assert(info->si_signo == signal);
    siglongjmp(back, signal);
}

static void probe(int *address)
{
    if (sigsetjmp(back, 1) == 0) {
        *(int volatile *)address = 1;
        abort();
    }
    if (sigsetjmp(back, 1) == 0) {
        zero = *(int volatile *)address;
        abort();
    }
    if (sigsetjmp(back, 1) == 0) {
        pthread_mutex_lock((pthread_mutex_t *)NULL);
        abort();
    }
    if (sigsetjmp(back, 1) == 0) {
        zero = 7 / zero;
        abort();
    }
    atomic_fetch_add(&n_faults, 1);
}

static void *work(void *memory)
{
    char own[16384];
    stack_t stack = { .ss_sp = own, .ss_size = sizeof own }, old;
    if (memory)
        sigaltstack(&stack, &old);
    for (int round = 0; round < 2; round++)
        probe(memory);
    if (memory) {
        assert(sigaltstack(NULL, &stack) == 0 && stack.ss_sp == (void *)own);
        sigaltstack(&old, NULL);
    }
    return NULL;
}

int main(void)
{
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_sigaction = recover;
    action.sa_flags = SA_SIGINFO | SA_ONSTACK;
    sigaction(SIGSEGV, &action, NULL);
    sigaction(SIGBUS, &action, NULL);
    sigaction(SIGFPE, &action, NULL);
    void *none = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    pthread_t one, other;
    pthread_create(&one, NULL, work, none);
    pthread_create(&other, NULL, work, NULL);
    work(none);
    pthread_join(one, NULL);
    pthread_join(other, NULL);
    assert(n_faults == 6);
    return 0;
}
