//@ expect: assert
//@ execs: 500
//@ cause: n_left = n_left - 1;
//@ says: n_left T2
// Each half is sorted by a thread of its own while there are threads to be had. "Is one left?" and "one fewer" are two
// accesses without a lock, so more threads run than there may be.
#include <assert.h>
#include <pthread.h>
#include <string.h>

#ifndef N
#define N 8
#define THREADS 4
#endif
struct part {
    int *numbers, n;
};
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static volatile int n_left = THREADS;
static int n_started;

static int take_thread(void)
{
    if (n_left == 0)
        return 0;
    n_left = n_left - 1;
    pthread_mutex_lock(&lock);
    n_started++;
    assert(n_started <= THREADS);
    pthread_mutex_unlock(&lock);
    return 1;
}

static void merge(int *numbers, int half, int n)
{
    int merged[N], left = 0, right = half;
    for (int i = 0; i < n; i++)
        merged[i] = right == n || (left < half && numbers[left] <= numbers[right]) ? numbers[left++]
                                                                                    : numbers[right++];
    memcpy(numbers, merged, (size_t)n * sizeof *numbers);
}

static void *sort(void *arg)
{
    struct part *part = arg;
    int half = part->n / 2;
    struct part parts[2] = {{part->numbers, half}, {part->numbers + half, part->n - half}};
    pthread_t t;
    if (part->n < 2)
        return NULL;
    int is_parallel = take_thread();
    if (is_parallel)
        pthread_create(&t, NULL, sort, &parts[0]);
    else
        sort(&parts[0]);
    sort(&parts[1]);
    if (is_parallel)
        pthread_join(t, NULL);
    merge(part->numbers, half, part->n);
    return NULL;
}

int main(void)
{
    int numbers[N];
    for (int i = 0; i < N; i++)
        numbers[i] = (i * 7 + 3) % N;
    sort(&(struct part){numbers, N});
    for (int i = 1; i < N; i++)
        assert(numbers[i - 1] <= numbers[i]);
    return 0;
}
