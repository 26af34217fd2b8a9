//@ expect: pass
//@ execs: 200
// A key destructor that sets its key again is called again; it takes a lock while its thread ends.
#include <assert.h>
#include <pthread.h>
#include <stdint.h>

static pthread_key_t key;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int rounds;

static void destroy(void *value)
{
    intptr_t left = (intptr_t)value;
    pthread_mutex_lock(&lock);
    rounds++;
    pthread_mutex_unlock(&lock);
    if (left > 1)
        pthread_setspecific(key, (void *)(left - 1));
}

static void *worker(void *arg)
{
    pthread_setspecific(key, arg);
    pthread_exit(NULL);
}

int main(void)
{
    pthread_t a, b;
    pthread_key_create(&key, destroy);
    pthread_create(&a, NULL, worker, (void *)(intptr_t)2);
    pthread_create(&b, NULL, worker, (void *)(intptr_t)3);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    assert(rounds == 5);
    return 0;
}
