// Two threads of STEPS steps each. The assertion fails if DEPTH orderings hold: the events of a chain, which the threads have
// in turns, the second thread's first, come in the order of their numbers. Each event is one step of its thread, in a
// place of its own; the places are spread evenly. Without preemptions the first thread's events come first: it passes.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

static atomic_int stage, busy;

static void *run(void *arg) {
    int me = *(int *)arg;
    // Of the events 0 to DEPTH, the even ones are the second thread's.
    int n_events = me == 1 ? DEPTH / 2 + 1 : (DEPTH + 1) / 2;
    for (int i = 0, next = 0; i < STEPS; i++) {
        if (next < n_events && i == (next + 1) * STEPS / (n_events + 1)) {
            int event = 2 * next++ + 1 - me;
            atomic_compare_exchange_strong(&stage, &event, event + 1);
        } else {
            atomic_fetch_add(&busy, 1);
        }
    }
    return arg;
}

int main(void) {
    pthread_t threads[2];
    int numbers[] = {0, 1};
    for (int i = 0; i < 2; i++) pthread_create(&threads[i], NULL, run, &numbers[i]);
    for (int i = 0; i < 2; i++) pthread_join(threads[i], NULL);
    assert(stage <= DEPTH);
}
