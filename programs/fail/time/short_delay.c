//@ expect: assert
//@ execs: 500
//@ unsaid: has_begun T0 T1
// "The worker will have begun after a millisecond": not on a machine that holds it up for as long.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

static atomic_int has_begun;

static void *worker(void *arg)
{
    (void)arg;
    atomic_store(&has_begun, 1);
    return NULL;
}

int main(void)
{
    pthread_t t;
    pthread_create(&t, NULL, worker, NULL);
    usleep(1000);
    assert(atomic_load(&has_begun));
    pthread_join(t, NULL);
    return 0;
}
