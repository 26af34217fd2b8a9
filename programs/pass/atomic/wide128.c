//@ expect: pass
//@ execs: 200
//@ flags: -mcx16 -latomic
// A 16-byte atomic: a pair is moved as one with compare-and-exchange, so its halves always agree.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>

struct pair {
    uint64_t count, twice;
};
static _Atomic struct pair shared;

static void *stepper(void *arg)
{
    (void)arg;
    for (int i = 0; i < 3; i++) {
        struct pair seen = atomic_load(&shared), next;
        do {
            assert(seen.twice == 2 * seen.count);
            next.count = seen.count + 1;
            next.twice = seen.twice + 2;
        } while (!atomic_compare_exchange_weak(&shared, &seen, next));
    }
    return NULL;
}

int main(void)
{
    pthread_t a, b;
    pthread_create(&a, NULL, stepper, NULL);
    pthread_create(&b, NULL, stepper, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    struct pair end = atomic_load(&shared);
    assert(end.count == 6 && end.twice == 12);
    return 0;
}
