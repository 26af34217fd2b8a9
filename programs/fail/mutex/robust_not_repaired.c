//@ expect: assert
//@ execs: 500
//@ cause: if (pthread_mutex_lock(&lock) == 0 && pages < 2) | pages++;
//@ says: pages T1 T2
// The heir of a robust mutex unlocks it without pthread_mutex_consistent: no thread can lock it again.
#include <assert.h>
#include <errno.h>
#include <pthread.h>

static pthread_mutex_t lock;
static int pages;

static void *deserter(void *arg)
{
    (void)arg;
    if (pthread_mutex_lock(&lock) == 0 && pages < 2)
        return NULL; // finds the work unfinished and leaves with the lock held
    pthread_mutex_unlock(&lock);
    return NULL;
}

static void *writer(void *arg)
{
    (void)arg;
    for (int i = 0; i < 2; i++) {
        int rc = pthread_mutex_lock(&lock);
        assert(rc == 0 || rc == EOWNERDEAD);
        pages++;
        pthread_mutex_unlock(&lock);
    }
    return NULL;
}

int main(void)
{
    pthread_mutexattr_t attr;
    pthread_mutexattr_init(&attr);
    pthread_mutexattr_setrobust(&attr, PTHREAD_MUTEX_ROBUST);
    pthread_mutex_init(&lock, &attr);
    pthread_t a, b;
    pthread_create(&a, NULL, writer, NULL);
    pthread_create(&b, NULL, deserter, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return 0;
}
