//@ expect: pass
//@ execs: 1
// More than a million steps that take and release one lock: a long computation is not a livelock.
#include <assert.h>
#include <pthread.h>

enum { ROUNDS = 180000 };
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static long count;

static void *add(void *arg)
{
    for (int i = 0; i < ROUNDS; i++) {
        pthread_mutex_lock(&lock);
        count++;
        pthread_mutex_unlock(&lock);
    }
    return arg;
}

int main(void)
{
    pthread_t threads[2];
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, add, NULL);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    assert(count == 2 * ROUNDS);
    return 0;
}
