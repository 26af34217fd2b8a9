//@ none
//@ tsan: differs: it counts accesses that fault, and never happen
// Two threads probe unmapped memory, and leave the handler of the fault by `siglongjmp`. Faulting accesses are
// not performed: no race.
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

static _Thread_local sigjmp_buf back;

static void recover(int signal)
{
    siglongjmp(back, signal);
}

static void *probe(void *memory)
{
    long *words = memory;
    for (int i = 0; i < 3; i++) {
        if (sigsetjmp(back, 1) == 0) {
            words[i] = 1;
            abort();
        }
        if (sigsetjmp(back, 1) == 0)
            exit((int)words[i]);
    }
    return NULL;
}

int main(void)
{
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_handler = recover;
    sigaction(SIGSEGV, &action, NULL);
    void *none = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    pthread_t threads[2];
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, probe, none);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    return 0;
}
