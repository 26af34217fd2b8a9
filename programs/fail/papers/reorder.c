//@ expect: assert
//@ execs: 2000
//@ cause: b = -1; | assert((a == 0
//@ unsaid: `a` `b` T3
// N - 1 threads set a, then b; one checks that it sees both or neither. It fails only if the checker comes
// after some a and before every b: for a large N, all threads must be made before the first has gone on.
#include <assert.h>
#include <pthread.h>

#ifndef N
#define N 3
#endif
static int a, b;

static void *set(void *arg)
{
    a = 1;
    b = -1;
    return arg;
}

static void *check(void *arg)
{
    assert((a == 0 && b == 0) || (a == 1 && b == -1));
    return arg;
}

int main(void)
{
    pthread_t t[N];
    for (int i = 0; i < N; i++)
        pthread_create(&t[i], NULL, i < N - 1 ? set : check, NULL);
    for (int i = 0; i < N; i++)
        pthread_join(t[i], NULL);
    return 0;
}
