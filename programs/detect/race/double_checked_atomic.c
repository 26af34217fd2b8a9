//@ none
// Double-checked locking, right.
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static _Atomic(int *) instance;
int seen[2]; // what is never looked at would not be read

static int *get(void)
{
    int *it = atomic_load_explicit(&instance, memory_order_acquire);
    if (!it) {
        pthread_mutex_lock(&lock);
        it = atomic_load_explicit(&instance, memory_order_relaxed);
        if (!it) {
            it = malloc(sizeof *it);
            *it = 42;
            atomic_store_explicit(&instance, it, memory_order_release);
        }
        pthread_mutex_unlock(&lock);
    }
    return it;
}

static void *first(void *arg)
{
    seen[0] = *get();
    return arg;
}

static void *second(void *arg)
{
    seen[1] = *get();
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
