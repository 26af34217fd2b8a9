//@ expect: misuse
//@ execs: 500
//@ cause: int seen = flag; | flag = 1;
//@ says: ready T2
// The slow path drops the mutex to look again and then waits on the condition without holding it.
#include <pthread.h>

static pthread_mutex_t lock;
static pthread_cond_t ready = PTHREAD_COND_INITIALIZER;
static int flag;

static void *waiter(void *arg)
{
    (void)arg;
    pthread_mutex_lock(&lock);
    int seen = flag;
    pthread_mutex_unlock(&lock);
    if (!seen)
        if (pthread_cond_wait(&ready, &lock) == 0)
            pthread_mutex_unlock(&lock);
    return NULL;
}

static void *setter(void *arg)
{
    (void)arg;
    pthread_mutex_lock(&lock);
    flag = 1;
    pthread_cond_broadcast(&ready);
    pthread_mutex_unlock(&lock);
    return NULL;
}

int main(void)
{
    pthread_mutexattr_t attr;
    pthread_mutexattr_init(&attr);
    pthread_mutexattr_settype(&attr, PTHREAD_MUTEX_ERRORCHECK);
    pthread_mutex_init(&lock, &attr);
    pthread_t a, b;
    pthread_create(&b, NULL, setter, NULL);
    pthread_create(&a, NULL, waiter, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return 0;
}
