//@ expect: misuse
//@ execs: 500
//@ cause: pthread_mutex_trylock(&lock);
//@ says: lock T2
// The result of trylock is ignored: the loser works unprotected and then unlocks what it does not hold.
#include <pthread.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int value;

static void *worker(void *arg)
{
    (void)arg;
    pthread_mutex_trylock(&lock);
    value++;
    pthread_mutex_unlock(&lock);
    return NULL;
}

int main(void)
{
    pthread_t a, b;
    pthread_create(&a, NULL, worker, NULL);
    pthread_create(&b, NULL, worker, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return 0;
}
