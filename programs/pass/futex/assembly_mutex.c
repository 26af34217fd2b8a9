//@ expect: pass
//@ execs: 500
//@ unhooked: `worker` (assembly_mutex.c)
// A mutex in assembly that makes its system calls itself.
#include <assert.h>
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <sys/syscall.h>

static int lock, count;

static void futex(int op, int value)
{
    long result;
    register long none __asm__("r10") = 0;
    __asm__ volatile("syscall"
                     : "=a"(result)
                     : "a"(SYS_futex), "D"(&lock), "S"(op), "d"(value), "r"(none)
                     : "rcx", "r11", "memory");
}

static int exchange_if_free(void)
{
    int old = 0;
    __asm__ volatile("lock cmpxchgl %2, %1"
                     : "+a"(old), "+m"(lock)
                     : "r"(1)
                     : "memory", "cc");
    return old;
}

static int exchange(int value)
{
    __asm__ volatile("xchgl %0, %1" : "+r"(value), "+m"(lock) : : "memory");
    return value;
}

static void take(void)
{
    if (exchange_if_free() == 0)
        return;
    while (exchange(2) != 0)
        futex(FUTEX_WAIT_PRIVATE, 2);
}

static void give_back(void)
{
    if (exchange(0) == 2)
        futex(FUTEX_WAKE_PRIVATE, 1);
}

static void *worker(void *arg)
{
    take();
    int before = count;
    sched_yield();
    count = before + 1;
    give_back();
    return arg;
}

int main(void)
{
    pthread_t a, b, c;
    pthread_create(&a, NULL, worker, NULL);
    pthread_create(&b, NULL, worker, NULL);
    pthread_create(&c, NULL, worker, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    pthread_join(c, NULL);
    assert(count == 3);
    return 0;
}
