//@ expect: assert
//@ execs: 500
//@ cause: n_merged = n_merged + 1;
//@ says: n_merged T3 T4
// Both halves are sorted by threads of their own down to small parts; how many parts were merged is counted without a lock.
#include <assert.h>
#include <pthread.h>
#include <string.h>

#ifndef N
#define N 7
#endif
enum { SMALL = 4 };
struct part {
    int *numbers, n;
};
static volatile int n_merged;

static void merge(int *numbers, int half, int n)
{
    int merged[N], left = 0, right = half;
    for (int i = 0; i < n; i++)
        merged[i] = right == n || (left < half && numbers[left] <= numbers[right]) ? numbers[left++]
                                                                                    : numbers[right++];
    memcpy(numbers, merged, (size_t)n * sizeof *numbers);
    n_merged = n_merged + 1;
}

static void *sort(void *arg)
{
    struct part *part = arg;
    int half = part->n / 2;
    struct part parts[2] = {{part->numbers, half}, {part->numbers + half, part->n - half}};
    if (part->n < 2)
        return NULL;
    if (part->n < SMALL) {
        sort(&parts[0]);
        sort(&parts[1]);
    } else {
        pthread_t t[2];
        for (int i = 0; i < 2; i++)
            pthread_create(&t[i], NULL, sort, &parts[i]);
        for (int i = 0; i < 2; i++)
            pthread_join(t[i], NULL);
    }
    merge(part->numbers, half, part->n);
    return NULL;
}

int main(void)
{
    int numbers[N];
    for (int i = 0; i < N; i++)
        numbers[i] = (i * 5 + 3) % N;
    sort(&(struct part){numbers, N});
    for (int i = 1; i < N; i++)
        assert(numbers[i - 1] <= numbers[i]);
    assert(n_merged == N - 1); // N parts became one
    return 0;
}
