//@ expect: assert
//@ execs: 500
//@ cause: int a = atomic_load(&x), b = atomic_load(&y); | atomic_store(&x, i); | atomic_store(&y, i);
//@ says: x y T1 T2
// A reader may see the new x with the old y: each half is atomic, the pair is not.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

static atomic_int x, y;

static void *writer(void *arg)
{
    (void)arg;
    for (int i = 1; i <= 2; i++) {
        atomic_store(&x, i);
        atomic_store(&y, i);
    }
    return NULL;
}

static void *reader(void *arg)
{
    (void)arg;
    int a = atomic_load(&x), b = atomic_load(&y);
    assert(a == b);
    return NULL;
}

int main(void)
{
    pthread_t a, b;
    pthread_create(&a, NULL, writer, NULL);
    pthread_create(&b, NULL, reader, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return 0;
}
