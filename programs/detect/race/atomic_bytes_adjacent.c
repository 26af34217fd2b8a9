//@ none
// Two flags of one byte each in one word: each publishes its own data.
#include <pthread.h>
#include <stdatomic.h>

static struct {
    _Atomic _Bool first, second;
} ready;
static int a, b;
int seen_a, seen_b; // what is never looked at would not be read

static void *give_a(void *arg)
{
    a = 1;
    atomic_store(&ready.first, 1);
    return arg;
}

static void *give_b(void *arg)
{
    b = 2;
    atomic_store(&ready.second, 1);
    return arg;
}

static void *take_a(void *arg)
{
    if (atomic_load(&ready.first))
        seen_a = a;
    return arg;
}

static void *take_b(void *arg)
{
    if (atomic_load(&ready.second))
        seen_b = b;
    return arg;
}

int main(void)
{
    void *(*const run[])(void *) = {give_a, give_b, take_a, take_b};
    pthread_t threads[4];
    for (int i = 0; i < 4; i++)
        pthread_create(&threads[i], NULL, run[i], NULL);
    for (int i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
    return 0;
}
