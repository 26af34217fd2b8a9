//@ expect: pass
//@ execs: 200
// Constructors that start threads, one of which they wait for before `main`; the other goes on beside it.
#include <assert.h>
#include <pthread.h>

static pthread_t early;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int n_done;

static void *work(void *arg)
{
    pthread_mutex_lock(&mutex);
    n_done++;
    pthread_mutex_unlock(&mutex);
    return arg;
}

__attribute__((constructor(101))) static void first(void)
{
    pthread_t thread;
    pthread_create(&thread, NULL, work, NULL);
    pthread_join(thread, NULL);
    assert(n_done == 1);
}

__attribute__((constructor(102))) static void second(void)
{
    pthread_create(&early, NULL, work, NULL);
}

int main(void)
{
    work(NULL);
    pthread_join(early, NULL);
    assert(n_done == 3);
    return 0;
}
