//@ expect: pass
//@ execs: 200
// Three threads in two phases over one reused barrier; exactly one is the serial thread of each.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>

static pthread_barrier_t barrier;
static int cell[2][3];
static atomic_int serial;

static void *worker(void *arg)
{
    int me = (int)(intptr_t)arg;
    for (int phase = 0; phase < 2; phase++) {
        cell[phase][me] = 1 + phase;
        int rc = pthread_barrier_wait(&barrier);
        if (rc == PTHREAD_BARRIER_SERIAL_THREAD)
            atomic_fetch_add(&serial, 1);
        else
            assert(rc == 0);
        assert(cell[phase][0] + cell[phase][1] + cell[phase][2] == 3 * (1 + phase));
    }
    return NULL;
}

int main(void)
{
    pthread_t t[3];
    pthread_barrier_init(&barrier, NULL, 3);
    for (int i = 0; i < 3; i++)
        pthread_create(&t[i], NULL, worker, (void *)(intptr_t)i);
    for (int i = 0; i < 3; i++)
        pthread_join(t[i], NULL);
    assert(serial == 2);
    return pthread_barrier_destroy(&barrier);
}
