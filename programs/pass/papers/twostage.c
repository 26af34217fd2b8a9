//@ expect: pass
//@ execs: 400
// fail/papers/twostage.c, mended: both stages are one critical section.
#include <assert.h>
#include <pthread.h>

enum { N = 3 };
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int first, second;

static void *change(void *arg)
{
    pthread_mutex_lock(&lock);
    first = 1;
    second = first + 1;
    pthread_mutex_unlock(&lock);
    return arg;
}

static void *check(void *arg)
{
    pthread_mutex_lock(&lock);
    assert(first == 0 || second == first + 1);
    pthread_mutex_unlock(&lock);
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
