//@ expect: pass
//@ execs: 200
// A lock-free stack of indices with a version in its head, so that ABA can't strike.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>

enum { NONE = 0xff };
static _Atomic uint32_t head; // version << 8 | index
static _Atomic uint8_t next[3] = {1, 2, NONE};
static atomic_int owners[3];

static int pop(void)
{
    uint32_t seen = atomic_load(&head), want;
    do {
        if ((seen & 0xff) == NONE)
            return NONE;
        want = ((seen >> 8) + 1) << 8 | atomic_load(&next[seen & 0xff]);
    } while (!atomic_compare_exchange_weak(&head, &seen, want));
    return seen & 0xff;
}

static void push(int i)
{
    uint32_t seen = atomic_load(&head), want;
    do {
        atomic_store(&next[i], (uint8_t)seen);
        want = ((seen >> 8) + 1) << 8 | (uint32_t)i;
    } while (!atomic_compare_exchange_weak(&head, &seen, want));
}

static void *user(void *arg)
{
    (void)arg;
    for (int k = 0; k < 2; k++) {
        int i = pop();
        if (i == NONE)
            continue;
        assert(atomic_fetch_add(&owners[i], 1) == 0);
        atomic_fetch_sub(&owners[i], 1);
        push(i);
    }
    return NULL;
}

int main(void)
{
    pthread_t t[3];
    for (int i = 0; i < 3; i++)
        pthread_create(&t[i], NULL, user, NULL);
    for (int i = 0; i < 3; i++)
        pthread_join(t[i], NULL);
    assert(pop() != NONE && pop() != NONE && pop() != NONE && pop() == NONE);
    return 0;
}
