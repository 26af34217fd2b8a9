//@ expect: misuse
//@ execs: 500
//@ cause: atomic_store(&busy, 1); | if (atomic_load(&busy)) | atomic_store(&busy, 0);
//@ says: lock T1 T2
// A supervisor "frees" a lock that looks stuck: it unlocks a mutex that another thread holds.
#include <pthread.h>
#include <stdatomic.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static atomic_int busy;

static void *worker(void *arg)
{
    (void)arg;
    pthread_mutex_lock(&lock);
    atomic_store(&busy, 1);
    atomic_store(&busy, 0);
    pthread_mutex_unlock(&lock);
    return NULL;
}

static void *supervisor(void *arg)
{
    (void)arg;
    if (atomic_load(&busy))
        pthread_mutex_unlock(&lock);
    return NULL;
}

int main(void)
{
    pthread_t a, b;
    pthread_create(&a, NULL, worker, NULL);
    pthread_create(&b, NULL, supervisor, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return 0;
}
