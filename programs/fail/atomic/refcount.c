//@ expect: assert
//@ execs: 500
//@ cause: atomic_fetch_sub(&refs, 1); | if (atomic_load(&refs) == 0)
//@ says: refs T1 T2
// A reference count dropped with two steps: both owners may think they were the last.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

static atomic_int refs = 2, freed;

static void *owner(void *arg)
{
    (void)arg;
    atomic_fetch_sub(&refs, 1);
    if (atomic_load(&refs) == 0)
        atomic_fetch_add(&freed, 1);
    return NULL;
}

int main(void)
{
    pthread_t a, b;
    pthread_create(&a, NULL, owner, NULL);
    pthread_create(&b, NULL, owner, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    assert(atomic_load(&freed) == 1);
    return 0;
}
