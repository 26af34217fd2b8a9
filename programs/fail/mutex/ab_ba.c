//@ expect: deadlock
//@ execs: 500
//@ cause: pthread_mutex_lock(&disk); | pthread_mutex_lock(&cache);
//@ says: disk cache T1 T2
// Two threads take the same two locks in opposite order.
#include <pthread.h>

static pthread_mutex_t disk = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t cache = PTHREAD_MUTEX_INITIALIZER;
static int writes;

static void *flush(void *arg)
{
    (void)arg;
    pthread_mutex_lock(&cache);
    pthread_mutex_lock(&disk);
    writes++;
    pthread_mutex_unlock(&disk);
    pthread_mutex_unlock(&cache);
    return NULL;
}

static void *evict(void *arg)
{
    (void)arg;
    pthread_mutex_lock(&disk);
    pthread_mutex_lock(&cache);
    writes++;
    pthread_mutex_unlock(&cache);
    pthread_mutex_unlock(&disk);
    return NULL;
}

int main(void)
{
    pthread_t a, b;
    pthread_create(&a, NULL, flush, NULL);
    pthread_create(&b, NULL, evict, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return writes == 2 ? 0 : 1;
}
