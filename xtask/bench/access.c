/* Plain reads and writes of memory that one thread alone touches. Argument: how many accesses. */
#include "meter.h"

enum { N_WORDS = 4096 };
static long words[N_WORDS];

__attribute__((noinline)) static long touch(long n_pairs) {
    long sum = 0;
    for (long i = 0; i < n_pairs; i++) {
        sum += words[i % N_WORDS];
        words[(i + 1) % N_WORDS] = i;
    }
    return sum;
}

int main(int argc, char **argv) {
    long n_accesses = number_arg(argc, argv, 1, 1000000);
    touch(N_WORDS);
    long long start = cpu_ns();
    long sum = touch(n_accesses / 2);
    long long elapsed = cpu_ns() - start;
    tell(elapsed);
    return sum == 1;
}
