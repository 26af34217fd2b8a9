//@ expect: assert
//@ execs: 2000
//@ cause: int two = second; | second = first + 1;
//@ says: second T1 T2
// N - 1 threads set one value under one lock, then another, made from it, under another lock. The reader
// that comes between the two stages of the first of them sees half of the change.
#include <assert.h>
#include <pthread.h>

#ifndef N
#define N 2
#endif
static pthread_mutex_t first_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t second_lock = PTHREAD_MUTEX_INITIALIZER;
static int first, second;

static void *change(void *arg)
{
    pthread_mutex_lock(&first_lock);
    first = 1;
    pthread_mutex_unlock(&first_lock);

    pthread_mutex_lock(&second_lock);
    second = first + 1;
    pthread_mutex_unlock(&second_lock);
    return arg;
}

static void *check(void *arg)
{
    pthread_mutex_lock(&first_lock);
    int one = first;
    pthread_mutex_unlock(&first_lock);
    if (one == 0)
        return arg;

    pthread_mutex_lock(&second_lock);
    int two = second;
    pthread_mutex_unlock(&second_lock);
    assert(two == one + 1);
    return arg;
}

int main(void)
{
    pthread_t t[N];
    for (int i = 0; i < N; i++)
        pthread_create(&t[i], NULL, i < N - 1 ? change : check, NULL);
    for (int i = 0; i < N; i++)
        pthread_join(t[i], NULL);
    return 0;
}
