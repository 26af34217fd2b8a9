//@ expect: assert
//@ execs: 500
//@ cause: atomic_store(&part[me], 1); | assert(part[0] + part[1] + part[2] == 3);
//@ says: part[2] T1 T2
// A barrier for two among three threads: it opens before the third has written its part.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>

static pthread_barrier_t barrier;
static atomic_int part[3];

static void *worker(void *arg)
{
    int me = (int)(intptr_t)arg;
    atomic_store(&part[me], 1);
    if (me != 2) { // the third thread's wait was forgotten
        pthread_barrier_wait(&barrier);
        if (me == 0)
            assert(part[0] + part[1] + part[2] == 3);
    }
    return NULL;
}

int main(void)
{
    pthread_t t[3];
    pthread_barrier_init(&barrier, NULL, 2);
    for (int i = 0; i < 3; i++)
        pthread_create(&t[i], NULL, worker, (void *)(intptr_t)((i + 2) % 3));
    for (int i = 0; i < 3; i++)
        pthread_join(t[i], NULL);
    pthread_barrier_destroy(&barrier);
    return 0;
}
