//@ expect: assert
//@ execs: 500
//@ cause: int left = numbers[i], right = numbers[i + 1]; | numbers[i] = right;
//@ unsaid: numbers T0
// One thread for each pass, each shorter than the one before. So the first is the longest, and when it is done all
// are, or so it seems: nobody waits for the others. No preemption is needed, only threads in the order of their creation.
#include <assert.h>
#include <pthread.h>
#include <stdint.h>

#ifndef N
#define N 4
#endif
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int numbers[N];

static void *pass(void *arg)
{
    int n_pairs = N - 1 - (int)(intptr_t)arg;
    for (int i = 0; i < n_pairs; i++) {
        pthread_mutex_lock(&lock);
        int left = numbers[i], right = numbers[i + 1];
        if (left > right) {
            numbers[i] = right;
            numbers[i + 1] = left;
        }
        pthread_mutex_unlock(&lock);
    }
    return NULL;
}

int main(void)
{
    pthread_t t[N - 1];
    for (int i = 0; i < N; i++)
        numbers[i] = N - i;
    for (int i = 0; i < N - 1; i++)
        pthread_create(&t[i], NULL, pass, (void *)(intptr_t)i);
    pthread_join(t[0], NULL);
    pthread_mutex_lock(&lock);
    for (int i = 1; i < N; i++)
        assert(numbers[i - 1] <= numbers[i]);
    pthread_mutex_unlock(&lock);
    for (int i = 1; i < N - 1; i++)
        pthread_join(t[i], NULL);
    return 0;
}
