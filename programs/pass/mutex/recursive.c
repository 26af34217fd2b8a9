//@ expect: pass
//@ execs: 200
// The non-portable static initialiser for a recursive mutex: nested locking, released level by level.
#define _GNU_SOURCE
#include <assert.h>
#include <errno.h>
#include <pthread.h>

static pthread_mutex_t lock = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
static int depth_sum;

static void descend(int depth)
{
    if (depth == 0)
        return;
    assert(pthread_mutex_lock(&lock) == 0);
    int seen = depth_sum;
    descend(depth - 1);
    assert(depth_sum >= seen); // nobody else came in between
    depth_sum++;
    assert(pthread_mutex_unlock(&lock) == 0);
}

static void *walker(void *arg)
{
    (void)arg;
    descend(3);
    assert(pthread_mutex_unlock(&lock) == EPERM); // no level is left
    return NULL;
}

int main(void)
{
    pthread_t a, b;
    pthread_create(&a, NULL, walker, NULL);
    pthread_create(&b, NULL, walker, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    assert(depth_sum == 6);
    return 0;
}
