/* Time and memory, asked of the kernel itself: the clocks of a program under Raddle are virtual. */
#ifndef METER_H
#define METER_H

#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>

static inline long bare_syscall(long number, long a, long b, long c, long d) {
    long result;
    register long r10 __asm__("r10") = d;
    __asm__ volatile("syscall"
                     : "=a"(result)
                     : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10)
                     : "rcx", "r11", "memory");
    return result;
}

static inline long long clock_ns(long clock) {
    struct timespec now;
    bare_syscall(SYS_clock_gettime, clock, (long)&now, 0, 0);
    return now.tv_sec * 1000000000LL + now.tv_nsec;
}

static inline long long real_ns(void) { return clock_ns(CLOCK_MONOTONIC); }

/* What this process itself has used: for work that never waits, the time on an idle machine. */
static inline long long cpu_ns(void) { return clock_ns(CLOCK_PROCESS_CPUTIME_ID); }

static inline long peak_kib(void) {
    struct rusage usage;
    bare_syscall(SYS_getrusage, RUSAGE_SELF, (long)&usage, 0, 0);
    return usage.ru_maxrss;
}

/* What the benchmark reads: one line of words and numbers. */
static inline void tell(long long elapsed_ns) {
    printf("ns %lld kib %ld\n", elapsed_ns, peak_kib());
}

static inline long number_arg(int argc, char **argv, int idx, long otherwise) {
    return argc > idx ? atol(argv[idx]) : otherwise;
}

#endif
