//@ expect: assert
//@ execs: 2000
//@ cause: if (t < atomic_load(&bottom)) { | atomic_store(&bottom, b);
//@ says: top bottom T0 T1
// An owner pushes and takes at the bottom of a deque, a thief steals at its top. The owner, taking the
// last item, looks at the top before it has said that the bottom went down: both may get that item.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

#ifndef N
#define N 4
#endif
static atomic_int items[N], top, bottom, n_taken[N];

static void take(int item)
{
    assert(atomic_fetch_add(&n_taken[item], 1) == 0);
}

static void push(int item)
{
    int b = atomic_load(&bottom);
    atomic_store(&items[b], item);
    atomic_store(&bottom, b + 1);
}

static int pop(int *item)
{
    int b = atomic_load(&bottom) - 1;
    int t = atomic_load(&top); // too early
    if (b < t)
        return 0;
    atomic_store(&bottom, b);
    *item = atomic_load(&items[b]);
    if (t < b)
        return 1;
    atomic_store(&bottom, b + 1);
    return atomic_compare_exchange_strong(&top, &t, t + 1);
}

static void *steal_some(void *arg)
{
    for (int i = 0; i < N; i++) {
        int t = atomic_load(&top);
        if (t < atomic_load(&bottom)) {
            int item = atomic_load(&items[t]);
            if (atomic_compare_exchange_strong(&top, &t, t + 1))
                take(item);
        }
    }
    return arg;
}

int main(void)
{
    pthread_t thief;
    int item;
    pthread_create(&thief, NULL, steal_some, NULL);
    for (int i = 0; i < N; i++)
        push(i);
    while (pop(&item))
        take(item);
    pthread_join(thief, NULL);
    return 0;
}
