//@ expect: pass
//@ execs: 100
// A handler of faults that returns: it has made the memory accessible (garbage collectors do so), or has changed the
// registers that the kernel shows it, and the program goes on where it was.
#define _GNU_SOURCE
#include <assert.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>

#define PAGE 4096

static char *pages;
static atomic_int n_faults;

static void mend(int signal, siginfo_t *info, void *context)
{
    (void)signal;
    char *address = info->si_addr;
    assert(address >= pages && address < pages + 2 * PAGE);
    assert(((ucontext_t *)context)->uc_mcontext.gregs[REG_RSP] != 0);
    mprotect(pages + (address - pages) / PAGE * PAGE, PAGE, PROT_READ | PROT_WRITE);
    atomic_fetch_add(&n_faults, 1);
}

static void *work(void *arg)
{
    double volatile half = 0.5;
    char volatile *page = arg;
    page[7] = 3;
    assert(half + page[7] == 3.5);
    return NULL;
}

int main(void)
{
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_sigaction = mend;
    action.sa_flags = SA_SIGINFO;
    sigaction(SIGSEGV, &action, NULL);
    pages = mmap(NULL, 2 * PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    pthread_t one, other;
    pthread_create(&one, NULL, work, pages);
    pthread_create(&other, NULL, work, pages + PAGE);
    pthread_join(one, NULL);
    pthread_join(other, NULL);
    assert(n_faults == 2);
    return 0;
}
