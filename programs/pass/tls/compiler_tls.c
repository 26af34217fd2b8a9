//@ expect: pass
//@ execs: 200
// __thread and _Thread_local variables, initialised and zeroed, and errno, are each thread's own.
#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>

static __thread int initialised = 41;
static _Thread_local int zeroed[16];
static atomic_int step;

static void *worker(void *arg)
{
    int me = (int)(intptr_t)arg;
    assert(initialised == 41 && zeroed[3] == 0);
    for (int i = 0; i < 3; i++) {
        initialised += me;
        zeroed[3] -= me;
        errno = 100 + me;
        atomic_fetch_add(&step, 1);
        assert(errno == 100 + me);
    }
    assert(initialised == 41 + 3 * me && zeroed[3] == -3 * me);
    return NULL;
}

int main(void)
{
    pthread_t t[3];
    for (int i = 0; i < 3; i++)
        pthread_create(&t[i], NULL, worker, (void *)(intptr_t)(i + 1));
    for (int i = 0; i < 3; i++)
        pthread_join(t[i], NULL);
    assert(initialised == 41 && step == 9);
    return 0;
}
