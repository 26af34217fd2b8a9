//@ expect: misuse
//@ execs: 200
//@ unnamed: if (atomic_compare_exchange_strong(&lock | fork();
//@ says: lock T0 T1
// A lock made of an atomic and a futex, as Rust's std has it, which another thread holds at a fork.
#include <linux/futex.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static atomic_uint lock; // 0: free, 1: taken, 2: taken, and somebody waits
static int value;

static void take(void)
{
    unsigned expected = 0;
    if (atomic_compare_exchange_strong(&lock, &expected, 1))
        return;
    while (atomic_exchange(&lock, 2) != 0)
        syscall(SYS_futex, &lock, FUTEX_WAIT_PRIVATE, 2, NULL);
}

static void give_back(void)
{
    if (atomic_exchange(&lock, 0) == 2)
        syscall(SYS_futex, &lock, FUTEX_WAKE_PRIVATE, 1);
}

static void *change(void *arg)
{
    take();
    value++;
    give_back();
    return arg;
}

int main(void)
{
    pthread_t thread;
    pthread_create(&thread, NULL, change, NULL);
    pid_t child = fork();
    if (child == 0) {
        change(NULL);
        _exit(0);
    }
    waitpid(child, NULL, 0);
    pthread_join(thread, NULL);
    return 0;
}
