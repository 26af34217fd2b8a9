//@ none
// An atomic flag as a lock.
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

static atomic_flag taken = ATOMIC_FLAG_INIT;
static int count;

static void add(void)
{
    while (atomic_flag_test_and_set(&taken)) {
    }
    count++;
    atomic_flag_clear(&taken);
}

static void *first(void *arg)
{
    add();
    return arg;
}

static void *second(void *arg)
{
    add();
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
