//@ expect: deadlock
//@ execs: 500
//@ cause: pthread_once(&once, init); | pthread_mutex_lock(&registry);
//@ says: registry once T1 T2
// The once routine takes a mutex that another thread holds while it waits for the once to end.
#include <pthread.h>

static pthread_once_t once = PTHREAD_ONCE_INIT;
static pthread_mutex_t registry;
static int entries;

static void init(void)
{
    pthread_mutex_lock(&registry);
    entries++;
    pthread_mutex_unlock(&registry);
}

static void *user(void *arg)
{
    (void)arg;
    pthread_once(&once, init);
    return NULL;
}

static void *registrar(void *arg)
{
    (void)arg;
    pthread_mutex_lock(&registry); // recursive: init() may run right here
    pthread_once(&once, init);
    entries++;
    pthread_mutex_unlock(&registry);
    return NULL;
}

int main(void)
{
    pthread_mutexattr_t attr;
    pthread_mutexattr_init(&attr);
    pthread_mutexattr_settype(&attr, PTHREAD_MUTEX_RECURSIVE);
    pthread_mutex_init(&registry, &attr);
    pthread_t a, b;
    pthread_create(&a, NULL, user, NULL);
    pthread_create(&b, NULL, registrar, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return 0;
}
