//@ expect: pass
//@ execs: 200
// Return values come back through join; a thread may create and join threads of its own.
#include <assert.h>
#include <pthread.h>
#include <stdint.h>

static void *fibonacci(void *arg)
{
    intptr_t n = (intptr_t)arg;
    if (n < 2)
        return (void *)n;
    pthread_t child;
    void *left, *right;
    pthread_create(&child, NULL, fibonacci, (void *)(n - 1));
    right = fibonacci((void *)(n - 2));
    pthread_join(child, &left);
    return (void *)((intptr_t)left + (intptr_t)right);
}

int main(void)
{
    assert((intptr_t)fibonacci((void *)(intptr_t)4) == 3);
    return 0;
}
