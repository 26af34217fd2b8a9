// Two threads add one, by a load and a store. That one is lost is what happens, not a failure.
#include <pthread.h>
#include <raddle.h>
#include <stdatomic.h>

static atomic_int count;

static void *add_one(void *arg)
{
    int seen = atomic_load(&count);
    atomic_store(&count, seen + 1);
    return arg;
}

static void lost_update(void *arg)
{
    pthread_t a, b;
    atomic_store(&count, 0);
    pthread_create(&a, NULL, add_one, arg);
    pthread_create(&b, NULL, add_one, arg);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
}

int main(void)
{
    raddle_check(lost_update, NULL);
    return 0;
}
