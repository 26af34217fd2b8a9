//@ atomicity: a b c
// The load and the store are atomic, the update as a whole is not.
#include <pthread.h>
#include <stdatomic.h>

static atomic_int count;

static void *slow(void *arg)
{
    int seen = atomic_load(&count); //= a
    atomic_store(&count, seen + 1); //= c
    return arg;
}

static void *fast(void *arg)
{
    atomic_fetch_add(&count, 10); //= b
    return arg;
}

int main(void)
{
    pthread_t a, b;
    pthread_create(&a, NULL, slow, NULL);
    pthread_create(&b, NULL, fast, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return 0;
}
