//@ expect: assert
//@ execs: 500
//@ cause: assert(atomic_load(&buffer_size) > 0); | atomic_store(&buffer_size, 512);
//@ says: buffer_size T0 T1
// The child uses what main sets only after creating it.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

static atomic_int buffer_size;

static void *reader(void *arg)
{
    (void)arg;
    assert(atomic_load(&buffer_size) > 0);
    return NULL;
}

int main(void)
{
    pthread_t t;
    pthread_create(&t, NULL, reader, NULL);
    atomic_store(&buffer_size, 512);
    pthread_join(t, NULL);
    return 0;
}
