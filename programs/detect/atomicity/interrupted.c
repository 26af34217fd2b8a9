//@ atomicity: a b b c
//@ fails: assert
// A reader may see the new x with the old y. The execution that fails passes if the writer is not interrupted.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

static atomic_int x, y;

static void *writer(void *arg)
{
    atomic_store(&x, 1); //= a
    atomic_store(&y, 1); //= c
    return arg;
}

static void *reader(void *arg)
{
    int first = atomic_load(&x), second = atomic_load(&y); //= b
    assert(first <= second);
    return arg;
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
