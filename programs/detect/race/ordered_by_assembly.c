//@ none
//@ tsan: differs: nobody can see what orders these, and it says that nothing does
// Uninstrumented instructions set and read the flag, which orders the two threads.
#include <pthread.h>

static int ready;
static int data;
int seen; // what is never looked at would not be read

static int add(int *to, int what)
{
    __asm__ volatile("lock xaddl %0, %1" : "+r"(what), "+m"(*to) : : "memory");
    return what;
}

static void *first(void *arg)
{
    data = 42; //= write
    add(&ready, 1);
    return arg;
}

static void *second(void *arg)
{
    if (add(&ready, 0))
        seen = data; //= read
    return arg;
}

int main(void)
{
    pthread_t a, b;
    pthread_create(&a, NULL, first, NULL);
    pthread_create(&b, NULL, second, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return 0;
}
