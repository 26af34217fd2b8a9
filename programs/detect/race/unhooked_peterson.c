//@ none
//@ tsan: differs: it does not see the functions of the lock
// Peterson's lock in uninstrumented functions: the waiter polls two words with plain reads, in a loop of many instructions.
#include <pthread.h>

static volatile int wants[2], turn;
static int count;

__attribute__((no_sanitize("thread"), noinline)) static void take(int me)
{
    wants[me] = 1;
    turn = 1 - me;
    __asm__ volatile("mfence" ::: "memory");
    while (wants[1 - me] && turn == 1 - me)
        ;
}

__attribute__((no_sanitize("thread"), noinline)) static void give_back(int me)
{
    wants[me] = 0;
}

static void *worker(void *arg)
{
    int me = (int)(long)arg;
    for (int round = 0; round < 2; round++) {
        take(me);
        count++;
        give_back(me);
    }
    return NULL;
}

int main(void)
{
    pthread_t a, b;
    pthread_create(&a, NULL, worker, (void *)0L);
    pthread_create(&b, NULL, worker, (void *)1L);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return count - 4;
}
