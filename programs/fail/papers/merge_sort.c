//@ expect: assert
//@ execs: 500
//@ cause: int is_left = n_left > 0; | n_left -= change;
// Each half is sorted by a thread of its own while there are threads to be had. "Is one left?" and "one
// fewer" are two critical sections, so more threads run than there may be.
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
static int n_left = THREADS, n_running;

static void *sort(void *arg);

static int is_thread_left(void)
{
    pthread_mutex_lock(&lock);
    int is_left = n_left > 0;
    pthread_mutex_unlock(&lock);
    return is_left;
}

static void count(int change)
{
    pthread_mutex_lock(&lock);
    n_left -= change;
    n_running += change;
    assert(n_running <= THREADS);
    pthread_mutex_unlock(&lock);
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
    int is_parallel = is_thread_left();
    if (is_parallel) {
        count(1);
        pthread_create(&t, NULL, sort, &parts[0]);
    } else {
        sort(&parts[0]);
    }
    sort(&parts[1]);
    if (is_parallel) {
        pthread_join(t, NULL);
        count(-1);
    }
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
