//@ expect: assert
//@ execs: 500
//@ cause: int left = numbers[i], right = numbers[i + 1]; | numbers[i] = N - i;
//@ says: numbers T0 T1
// One thread for each pair of neighbours, which together make one pass; the main thread creates them, and fills in the
// numbers after that. A thread that runs as soon as it is created compares what is not there yet.
#include <assert.h>
#include <pthread.h>
#include <stdint.h>

#ifndef N
#define N 4
#endif
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int numbers[N], n_compared;

static void *compare(void *arg)
{
    int i = (int)(intptr_t)arg;
    pthread_mutex_lock(&lock);
    while (n_compared < i)
        pthread_cond_wait(&changed, &lock);
    int left = numbers[i], right = numbers[i + 1];
    if (left > right) {
        numbers[i] = right;
        numbers[i + 1] = left;
    }
    n_compared++;
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&lock);
    return NULL;
}

int main(void)
{
    pthread_t t[N - 1];
    for (int i = 0; i < N - 1; i++)
        pthread_create(&t[i], NULL, compare, (void *)(intptr_t)i);
    pthread_mutex_lock(&lock);
    for (int i = 0; i < N; i++)
        numbers[i] = N - i; // should be before the threads are created
    pthread_mutex_unlock(&lock);
    for (int i = 0; i < N - 1; i++)
        pthread_join(t[i], NULL);
    assert(numbers[N - 1] == N); // one pass brings the largest to the end
    return 0;
}
