//@ expect: assert
//@ execs: 500
//@ cause: int seen = hits; | hits = seen + 1;
//@ says: hits T1 T2
// Two threads add to a plain counter; one of them forgot to take the mutex.
#include <assert.h>
#include <pthread.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int hits;

static void *careful(void *arg)
{
    (void)arg;
    pthread_mutex_lock(&lock);
    int seen = hits;
    hits = seen + 1;
    pthread_mutex_unlock(&lock);
    return NULL;
}

static void *careless(void *arg)
{
    (void)arg;
    int seen = hits;
    hits = seen + 1;
    return NULL;
}

int main(void)
{
    pthread_t a, b;
    pthread_create(&a, NULL, careful, NULL);
    pthread_create(&b, NULL, careless, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    assert(hits == 2);
    return 0;
}
