//@ expect: assert
//@ execs: 500
//@ cause: for (int i = 0; i < 3 && !atomic_load(&stop); i++) | atomic_store(&stop, 1); | assert(atomic_load(&device_open)); | atomic_store(&device_open, 0);
//@ says: stop device_open T1 T2
// The stop flag is tested before the device is used, and the device goes away in between.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

static atomic_int stop, device_open = 1;

static void *worker(void *arg)
{
    (void)arg;
    for (int i = 0; i < 3 && !atomic_load(&stop); i++)
        assert(atomic_load(&device_open));
    return NULL;
}

static void *stopper(void *arg)
{
    (void)arg;
    atomic_store(&stop, 1);
    atomic_store(&device_open, 0);
    return NULL;
}

int main(void)
{
    pthread_t a, b;
    pthread_create(&a, NULL, worker, NULL);
    pthread_create(&b, NULL, stopper, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return 0;
}
