//@ expect: pass
//@ execs: 20
// A waiting thread announces itself in eight slots in turn: a cycle of twenty-four accesses, two thirds
// of them writes. It is not recognised as polling, so the thread must be descheduled, sooner each time.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

enum { ROUNDS = 100, SLOTS = 8 };
static atomic_int turn;

static void *take_turns(void *arg)
{
    static atomic_int slots[2][SLOTS];
    int me = *(int *)arg, slot = 0;
    for (int round = 0; round < ROUNDS; round++) {
        for (int seen = -1; seen != 2 * round + me; slot++) {
            atomic_exchange(&slots[me][slot % SLOTS], 1);
            seen = atomic_load(&turn);
            atomic_exchange(&slots[me][slot % SLOTS], 0);
        }
        atomic_fetch_add(&turn, 1);
    }
    return NULL;
}

int main(void)
{
    int numbers[2] = { 0, 1 };
    pthread_t threads[2];
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, take_turns, &numbers[i]);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    assert(turn == 2 * ROUNDS);
    return 0;
}
