//@ expect: pass
//@ execs: 200
// A gate opened once with broadcast lets every waiter through, early or late.
#include <assert.h>
#include <pthread.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t opened = PTHREAD_COND_INITIALIZER;
static int open_, passed, price;

static void *visitor(void *arg)
{
    (void)arg;
    pthread_mutex_lock(&lock);
    while (!open_)
        pthread_cond_wait(&opened, &lock);
    passed += price;
    pthread_mutex_unlock(&lock);
    return NULL;
}

int main(void)
{
    pthread_t t[3];
    for (int i = 0; i < 3; i++)
        pthread_create(&t[i], NULL, visitor, NULL);
    pthread_mutex_lock(&lock);
    price = 5;
    open_ = 1;
    pthread_cond_broadcast(&opened);
    pthread_mutex_unlock(&lock);
    for (int i = 0; i < 3; i++)
        pthread_join(t[i], NULL);
    assert(passed == 15);
    pthread_cond_destroy(&opened);
    pthread_mutex_destroy(&lock);
    return 0;
}
