//@ expect: assert
//@ execs: 4000
//@ cause: atomic_store(&is_closing, 1); | assert(atomic_load(&is_closing) != 1); | atomic_store(&is_closing, 2);
//@ says: is_closing T1 T2
// Two threads of very different length; the bug is where both are near their ends. A walk gives both the
// same pace, so that the short one has long ended when the long one gets there.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

#ifndef LONG
#define LONG 8
#define SHORT 2
#endif
static atomic_int n_beats, is_closing;

static void beat(int n)
{
    for (int i = 0; i < n; i++)
        atomic_fetch_add(&n_beats, 1);
}

static void *long_thread(void *arg)
{
    beat(LONG);
    atomic_store(&is_closing, 1);
    atomic_store(&is_closing, 2);
    return arg;
}

static void *short_thread(void *arg)
{
    beat(SHORT);
    assert(atomic_load(&is_closing) != 1);
    return arg;
}

int main(void)
{
    pthread_t a, b;
    pthread_create(&a, NULL, long_thread, NULL);
    pthread_create(&b, NULL, short_thread, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return 0;
}
