//@ race: read write
//@ race: write write
// A counter in assembly says nothing about the variable that is used after it.
#include <pthread.h>

static int n_users;
static int value;

static void *work(void *arg)
{
    __asm__ volatile("lock incl %0" : "+m"(n_users));
    int old = value; //= read
    value = old + 1; //= write
    return arg;
}

int main(void)
{
    pthread_t a, b;
    pthread_create(&a, NULL, work, NULL);
    pthread_create(&b, NULL, work, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return 0;
}
