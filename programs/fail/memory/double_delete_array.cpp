//@ expect: misuse
//@ execs: 100
//@ cause: delete[] items;
//@ says: T1 T2
// Two threads delete the same array.
#include <pthread.h>

static int *items;

static void *worker(void *arg)
{
    delete[] items;
    return arg;
}

int main()
{
    items = new int[16];
    pthread_t a, b;
    pthread_create(&a, NULL, worker, NULL);
    pthread_create(&b, NULL, worker, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return 0;
}
