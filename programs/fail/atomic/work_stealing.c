//@ expect: assert
//@ execs: 2000
//@ cause: if (b < atomic_load(&top)) { | if (t < atomic_load(&bottom)
//@ says: bottom T1 T2
// A work-stealing deque whose owner does not race the thief for the last item: it runs twice.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

static atomic_int top, bottom = 2;
static atomic_int runs[2];

static void run(int item)
{
    assert(atomic_fetch_add(&runs[item], 1) == 0);
}

static void *owner(void *arg)
{
    (void)arg;
    for (;;) {
        int b = atomic_fetch_sub(&bottom, 1) - 1;
        if (b < atomic_load(&top)) {
            atomic_store(&bottom, b + 1);
            return NULL;
        }
        run(b); // wrong if b == top: a thief may be taking it too
    }
}

static void *thief(void *arg)
{
    (void)arg;
    int t = atomic_load(&top);
    if (t < atomic_load(&bottom) && atomic_compare_exchange_strong(&top, &t, t + 1))
        run(t);
    return NULL;
}

int main(void)
{
    pthread_t a, b;
    pthread_create(&a, NULL, owner, NULL);
    pthread_create(&b, NULL, thief, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return 0;
}
