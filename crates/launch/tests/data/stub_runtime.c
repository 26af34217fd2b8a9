// Stands in for the runtime library: every hook that gcc and clang call, doing nothing but counting, and
// atomics that are really done. With RADDLE_STUB set, the counts are written when the program ends.
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static long n_init, n_entry, n_access, n_volatile, n_atomic;

void __tsan_init(void) { n_init++; }
void __tsan_func_entry(void *pc) { n_entry++; }
void __tsan_func_exit(void) {}
void __tsan_vptr_update(void *p, void *v) { n_access++; }
void __tsan_vptr_read(void *p) { n_access++; }
void __tsan_read_range(void *p, unsigned long n) { n_access++; }
void __tsan_write_range(void *p, unsigned long n) { n_access++; }
void *__tsan_memcpy(void *d, const void *s, unsigned long n) { return memcpy(d, s, n); }
void *__tsan_memmove(void *d, const void *s, unsigned long n) { return memmove(d, s, n); }
void *__tsan_memset(void *d, int c, unsigned long n) { return memset(d, c, n); }

#define ACCESS(N)                                                                                  \
    void __tsan_read##N(void *p) { n_access++; }                                                   \
    void __tsan_write##N(void *p) { n_access++; }                                                  \
    void __tsan_unaligned_read##N(void *p) { n_access++; }                                         \
    void __tsan_unaligned_write##N(void *p) { n_access++; }                                        \
    void __tsan_volatile_read##N(void *p) { n_volatile++; }                                        \
    void __tsan_volatile_write##N(void *p) { n_volatile++; }
ACCESS(1)
ACCESS(2)
ACCESS(4)
ACCESS(8)
ACCESS(16)

#define FETCH(B, T, NAME)                                                                          \
    T __tsan_atomic##B##_fetch_##NAME(volatile T *p, T v, int mo) {                                \
        n_atomic++;                                                                                \
        return __atomic_fetch_##NAME(p, v, __ATOMIC_SEQ_CST);                                      \
    }
#define CAS(B, T, NAME)                                                                            \
    bool __tsan_atomic##B##_compare_exchange_##NAME(volatile T *p, T *e, T v, int mo, int fmo) {   \
        n_atomic++;                                                                                \
        return __atomic_compare_exchange_n(p, e, v, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);        \
    }
#define ATOMIC(B, T)                                                                               \
    T __tsan_atomic##B##_load(const volatile T *p, int mo) {                                       \
        n_atomic++;                                                                                \
        return __atomic_load_n(p, __ATOMIC_SEQ_CST);                                               \
    }                                                                                              \
    void __tsan_atomic##B##_store(volatile T *p, T v, int mo) {                                    \
        n_atomic++;                                                                                \
        __atomic_store_n(p, v, __ATOMIC_SEQ_CST);                                                  \
    }                                                                                              \
    T __tsan_atomic##B##_exchange(volatile T *p, T v, int mo) {                                    \
        n_atomic++;                                                                                \
        return __atomic_exchange_n(p, v, __ATOMIC_SEQ_CST);                                        \
    }                                                                                              \
    FETCH(B, T, add)                                                                               \
    FETCH(B, T, sub)                                                                               \
    FETCH(B, T, and)                                                                               \
    FETCH(B, T, or)                                                                                \
    FETCH(B, T, xor)                                                                               \
    FETCH(B, T, nand)                                                                              \
    CAS(B, T, strong)                                                                              \
    CAS(B, T, weak)                                                                                \
    T __tsan_atomic##B##_compare_exchange_val(volatile T *p, T e, T v, int mo, int fmo) {          \
        n_atomic++;                                                                                \
        __atomic_compare_exchange_n(p, &e, v, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);              \
        return e;                                                                                  \
    }
ATOMIC(8, unsigned char)
ATOMIC(16, unsigned short)
ATOMIC(32, unsigned)
ATOMIC(64, unsigned long)

void __tsan_atomic_thread_fence(int mo) { n_atomic++; }
void __tsan_atomic_signal_fence(int mo) {}

__attribute__((destructor)) static void tell(void) {
    if (getenv("RADDLE_STUB"))
        fprintf(stderr, "init %d entry %d access %d volatile %d atomic %d\n", n_init > 0, n_entry > 0,
                n_access > 0, n_volatile > 0, n_atomic > 0);
}
