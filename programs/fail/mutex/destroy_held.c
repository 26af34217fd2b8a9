//@ expect: misuse
//@ execs: 500
//@ cause: pthread_mutex_destroy(&lock); | pthread_mutex_unlock(&lock);
//@ says: lock T0 T1
// "done" is announced inside the critical section, so the owner may destroy a mutex that is still held.
#include <pthread.h>
#include <stdatomic.h>

static pthread_mutex_t lock;
static atomic_int done;
static int result;

static void *worker(void *arg)
{
    (void)arg;
    pthread_mutex_lock(&lock);
    result = 42;
    atomic_store(&done, 1);
    pthread_mutex_unlock(&lock);
    return NULL;
}

int main(void)
{
    pthread_t t;
    pthread_mutex_init(&lock, NULL);
    pthread_create(&t, NULL, worker, NULL);
    int early = atomic_load(&done);
    if (early)
        pthread_mutex_destroy(&lock);
    pthread_join(t, NULL);
    if (!early)
        pthread_mutex_destroy(&lock);
    return result == 42 ? 0 : 1;
}
