//@ none
//@ tsan: differs: it does not see the instructions of the lock
// A ticket lock in assembly, whose waiters read plainly and whose release is a plain increment.
#include <pthread.h>

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
        count++;
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
    return count - 4;
}
