//@ expect: pass
//@ execs: 200
// Atomic increments of 8, 16, 32 and 64 bits lose nothing, and wrap where they should.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>

static _Atomic uint8_t small = 250;
static _Atomic uint16_t medium = 65530;
static _Atomic uint32_t word;
static _Atomic uint64_t wide = UINT32_MAX;

static void *adder(void *arg)
{
    (void)arg;
    for (int i = 0; i < 3; i++) {
        atomic_fetch_add(&small, 1);
        atomic_fetch_add_explicit(&medium, 2, memory_order_relaxed);
        atomic_fetch_or(&word, 1u << i);
        wide++;
    }
    return NULL;
}

int main(void)
{
    pthread_t t[3];
    for (int i = 0; i < 3; i++)
        pthread_create(&t[i], NULL, adder, NULL);
    for (int i = 0; i < 3; i++)
        pthread_join(t[i], NULL);
    assert(small == 3 && medium == 12 && word == 7 && wide == UINT64_C(0x100000008));
    return 0;
}
