// Blocks go from thread to thread through slots: whoever takes one checks and frees it.
#include <assert.h>
#include <mimalloc.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>

#define SLOTS 4
static _Atomic(size_t *) slots[SLOTS];

static void check_and_free(size_t *block) {
    if (!block) return;
    for (size_t i = 1; i < block[0]; i++) assert(block[i] == block[0]);
    mi_free(block);
}

static void *worker(void *arg) {
    size_t seed = (uintptr_t)arg;
    for (int i = 0; i < 30; i++) {
        seed = seed * 1103515245 + 12345;
        size_t n = 2 + (seed >> 16) % 60;
        size_t *block = mi_malloc(n * sizeof *block);
        for (size_t k = 0; k < n; k++) block[k] = n;
        check_and_free(atomic_exchange(&slots[(seed >> 8) % SLOTS], block));
    }
    return NULL;
}

int main(void) {
    pthread_t t[2];
    for (uintptr_t i = 0; i < 2; i++) pthread_create(&t[i], NULL, worker, (void *)(i + 1));
    for (int i = 0; i < 2; i++) pthread_join(t[i], NULL);
    for (int i = 0; i < SLOTS; i++) check_and_free(slots[i]);
    return 0;
}
