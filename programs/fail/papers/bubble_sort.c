//@ expect: assert
//@ execs: 500
//@ cause: int left = numbers[i], right = numbers[i + 1];
// One thread for each pair of neighbours compares and exchanges them, pass after pass. A pass waits for
// nobody but its own threads' start: neighbours are exchanged by two threads at once.
#include <assert.h>
#include <pthread.h>
#include <stdint.h>

#ifndef N
#define N 4
#endif
static int numbers[N];

static void *compare(void *arg)
{
    int i = (int)(intptr_t)arg;
    int left = numbers[i], right = numbers[i + 1];
    if (left > right) {
        numbers[i] = right;
        numbers[i + 1] = left;
    }
    return NULL;
}

int main(void)
{
    for (int i = 0; i < N; i++)
        numbers[i] = N - i;
    for (int pass = 0; pass < N; pass++) {
        pthread_t t[N - 1];
        for (int i = 0; i < N - 1; i++)
            pthread_create(&t[i], NULL, compare, (void *)(intptr_t)i);
        for (int i = 0; i < N - 1; i++)
            pthread_join(t[i], NULL);
    }
    int sum = 0;
    for (int i = 0; i < N; i++)
        sum += numbers[i];
    assert(sum == N * (N + 1) / 2); // no number is lost or doubled
    return 0;
}
