//@ expect: assert
// Quicksort by several threads that take ranges from a common stack, behind a lock of their own making: "is it free?"
// and "it is mine" are two steps.
#include <assert.h>
#include <pthread.h>
#include <sched.h>

enum { N = 12, WORKERS = 3 };
struct range {
    int from, to;
};
static int numbers[N], n_placed;
static struct range stack[2 * N];
static int n_ranges;
static volatile int is_held, n_holders;

static void acquire(void)
{
    while (is_held)
        sched_yield();
    is_held = 1;
    n_holders++;
    assert(n_holders == 1);
}

static void release(void)
{
    n_holders--;
    is_held = 0;
}

static int take(struct range *range)
{
    int is_work = 0;
    acquire();
    if (n_ranges > 0) {
        *range = stack[--n_ranges];
        is_work = 1;
    }
    release();
    return is_work;
}

static void put(int from, int to)
{
    acquire();
    if (to - from > 1)
        stack[n_ranges++] = (struct range){from, to};
    else
        n_placed += to - from;
    release();
}

static void split(struct range range)
{
    int pivot = numbers[range.from], middle = range.from;
    for (int i = range.from + 1; i < range.to; i++) {
        if (numbers[i] < pivot) {
            int number = numbers[i];
            numbers[i] = numbers[++middle];
            numbers[middle] = number;
        }
    }
    numbers[range.from] = numbers[middle];
    numbers[middle] = pivot;
    acquire();
    n_placed++;
    release();
    put(range.from, middle);
    put(middle + 1, range.to);
}

static void *sort(void *arg)
{
    struct range range;
    for (;;) {
        if (take(&range))
            split(range);
        acquire();
        int is_done = n_placed == N;
        release();
        if (is_done)
            return arg;
        sched_yield();
    }
}

int main(void)
{
    pthread_t t[WORKERS];
    for (int i = 0; i < N; i++)
        numbers[i] = (i * 5 + 3) % N;
    stack[n_ranges++] = (struct range){0, N};
    for (int i = 0; i < WORKERS; i++)
        pthread_create(&t[i], NULL, sort, NULL);
    for (int i = 0; i < WORKERS; i++)
        pthread_join(t[i], NULL);
    for (int i = 1; i < N; i++)
        assert(numbers[i - 1] <= numbers[i]);
    return 0;
}
