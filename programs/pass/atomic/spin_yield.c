//@ expect: pass
//@ execs: 200
// Ping-pong over an atomic flag, yielding the processor while it is not one's turn.
#include <assert.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdint.h>

static atomic_int turn;
static int ball;

static void *player(void *arg)
{
    int me = (int)(intptr_t)arg;
    for (int i = 0; i < 3; i++) {
        while (atomic_load(&turn) != me)
            sched_yield();
        assert(ball % 2 == me);
        ball++;
        atomic_store(&turn, 1 - me);
    }
    return NULL;
}

int main(void)
{
    pthread_t t[2];
    for (int i = 0; i < 2; i++)
        pthread_create(&t[i], NULL, player, (void *)(intptr_t)i);
    for (int i = 0; i < 2; i++)
        pthread_join(t[i], NULL);
    assert(ball == 6);
    return 0;
}
