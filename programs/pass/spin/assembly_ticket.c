//@ expect: pass
//@ execs: 500
//@ unhooked: `worker` (assembly_ticket.c)
// A ticket lock in assembly: waiters poll the number that is served with plain reads; the release is a plain increment.
#include <assert.h>
#include <pthread.h>
#include <sched.h>

static struct {
    unsigned next, served;
} lock;
static int count;

static void take(void)
{
    unsigned mine = 1;
    __asm__ volatile("lock xaddl %0, %1\n"
                     "1: cmpl %2, %0\n\t"
                     "je 2f\n\t"
                     "pause\n\t"
                     "jmp 1b\n"
                     "2:"
                     : "+r"(mine), "+m"(lock.next)
                     : "m"(lock.served)
                     : "memory", "cc");
}

static void give_back(void)
{
    __asm__ volatile("incl %0" : "+m"(lock.served) : : "memory", "cc");
}

static void *worker(void *arg)
{
    for (int round = 0; round < 2; round++) {
        take();
        int before = count;
        sched_yield();
        count = before + 1;
        give_back();
    }
    return arg;
}

int main(void)
{
    pthread_t a, b;
    pthread_create(&a, NULL, worker, NULL);
    pthread_create(&b, NULL, worker, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    assert(count == 4);
    return 0;
}
