//@ expect: abort
//@ execs: 500
//@ cause: atomic_store(&verbose, 1); | if (atomic_load(&verbose))
//@ says: verbose T1 T2
// A helper locks an error-checking mutex that its caller may hold already; EDEADLK makes it abort.
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

static pthread_mutex_t lock;
static atomic_int verbose;

static void log_line(void)
{
    if (pthread_mutex_lock(&lock) != 0)
        abort();
    pthread_mutex_unlock(&lock);
}

static void *worker(void *arg)
{
    (void)arg;
    pthread_mutex_lock(&lock);
    if (atomic_load(&verbose))
        log_line();
    pthread_mutex_unlock(&lock);
    return NULL;
}

static void *debugger(void *arg)
{
    (void)arg;
    atomic_store(&verbose, 1);
    log_line();
    atomic_store(&verbose, 0);
    return NULL;
}

int main(void)
{
    pthread_mutexattr_t attr;
    pthread_mutexattr_init(&attr);
    pthread_mutexattr_settype(&attr, PTHREAD_MUTEX_ERRORCHECK);
    pthread_mutex_init(&lock, &attr);
    pthread_t a, b;
    pthread_create(&a, NULL, worker, NULL);
    pthread_create(&b, NULL, debugger, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return 0;
}
