//@ expect: pass
//@ execs: 50
// A barrier of one never blocks and always names its caller the serial thread.
#include <assert.h>
#include <pthread.h>

static pthread_barrier_t mine;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *worker(void *arg)
{
    (void)arg;
    pthread_mutex_lock(&lock);
    assert(pthread_barrier_wait(&mine) == PTHREAD_BARRIER_SERIAL_THREAD);
    pthread_mutex_unlock(&lock);
    return NULL;
}

int main(void)
{
    pthread_t a, b;
    pthread_barrier_init(&mine, NULL, 1);
    pthread_create(&a, NULL, worker, NULL);
    pthread_create(&b, NULL, worker, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return pthread_barrier_destroy(&mine);
}
