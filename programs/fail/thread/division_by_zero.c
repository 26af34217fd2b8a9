//@ expect: crash
//@ execs: 500
//@ cause: atomic_store(&count, 0); | atomic_store(&mean,
//@ says: count T1 T2
// The mean is taken over a count that another thread resets between the test and the division (SIGFPE).
#include <pthread.h>
#include <stdatomic.h>

static atomic_int total = 12, count = 3, mean;

static void *reporter(void *arg)
{
    (void)arg;
    if (atomic_load(&count) != 0)
        atomic_store(&mean, atomic_load(&total) / atomic_load(&count));
    return NULL;
}

static void *resetter(void *arg)
{
    (void)arg;
    atomic_store(&total, 0);
    atomic_store(&count, 0);
    return NULL;
}

int main(void)
{
    pthread_t a, b;
    pthread_create(&a, NULL, reporter, NULL);
    pthread_create(&b, NULL, resetter, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return atomic_load(&mean) > 4;
}
