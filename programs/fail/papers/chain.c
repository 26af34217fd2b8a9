//@ expect: assert
//@ execs: 2000
//@ cause: if (atomic_load(&turn) == link) | atomic_store(&turn, link + 1);
//@ says: turn T1 T2
// Two threads must pass the turn to and fro LINKS times, each pass in a window of PADDING steps, without
// any waiting: only schedules that alternate get to the end of the chain.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>

#ifndef LINKS
#define LINKS 3
#define PADDING 5
#endif
static atomic_int turn, n_beats;

static void *play(void *arg)
{
    int side = (int)(intptr_t)arg;
    for (int link = side; link < LINKS; link += 2) {
        if (atomic_load(&turn) == link)
            atomic_store(&turn, link + 1);
        for (int i = 0; i < PADDING; i++)
            atomic_fetch_add(&n_beats, 1);
    }
    return NULL;
}

int main(void)
{
    pthread_t a, b;
    pthread_create(&a, NULL, play, (void *)(intptr_t)0);
    pthread_create(&b, NULL, play, (void *)(intptr_t)1);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    assert(turn != LINKS);
    return 0;
}
