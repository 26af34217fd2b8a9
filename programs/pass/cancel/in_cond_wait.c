//@ expect: pass
//@ execs: 200
// A thread cancelled in a condition wait holds the mutex again while its clean-up handler runs.
#include <assert.h>
#include <pthread.h>

static pthread_mutex_t lock;
static pthread_cond_t never = PTHREAD_COND_INITIALIZER;
static int cleaned, waiting;

static void clean_up(void *arg)
{
    cleaned += *(int *)arg;
    assert(pthread_mutex_unlock(&lock) == 0); // error-checking: really ours
}

static void *waiter(void *arg)
{
    pthread_mutex_lock(&lock);
    waiting++;
    pthread_cleanup_push(clean_up, arg);
    for (;;)
        pthread_cond_wait(&never, &lock);
    pthread_cleanup_pop(1);
    return NULL;
}

int main(void)
{
    pthread_mutexattr_t attr;
    pthread_t t[2];
    int amount = 5;
    void *result;
    pthread_mutexattr_init(&attr);
    pthread_mutexattr_settype(&attr, PTHREAD_MUTEX_ERRORCHECK);
    pthread_mutex_init(&lock, &attr);
    for (int i = 0; i < 2; i++)
        pthread_create(&t[i], NULL, waiter, &amount);
    for (int i = 0; i < 2; i++)
        pthread_cancel(t[i]);
    for (int i = 0; i < 2; i++) {
        pthread_join(t[i], &result);
        assert(result == PTHREAD_CANCELED);
    }
    assert(cleaned == 10 && waiting == 2);
    return 0;
}
