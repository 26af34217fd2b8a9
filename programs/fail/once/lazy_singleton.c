//@ expect: assert
//@ execs: 500
//@ cause: if (atomic_load(&instance) == NULL) | atomic_store(&instance,
//@ says: instance T1 T2
// A lazily made singleton without any lock: two threads make one each.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>

static int slots[2];
static atomic_int made;
static _Atomic(int *) instance;

static int *get(void)
{
    if (atomic_load(&instance) == NULL)
        atomic_store(&instance, &slots[atomic_fetch_add(&made, 1)]);
    return atomic_load(&instance);
}

static void *client(void *arg)
{
    (void)arg;
    return get();
}

int main(void)
{
    pthread_t a, b;
    pthread_create(&a, NULL, client, NULL);
    pthread_create(&b, NULL, client, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    assert(made == 1);
    return 0;
}
