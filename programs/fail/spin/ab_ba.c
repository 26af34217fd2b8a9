//@ expect: deadlock
//@ execs: 500
//@ cause: pthread_spin_lock(&spin); | pthread_mutex_lock(&mutex);
//@ says: mutex spin T1 T2
// A spin lock and a mutex taken in opposite order: one thread sleeps and the other spins forever.
#include <pthread.h>

static pthread_spinlock_t spin;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int steps;

static void *spin_first(void *arg)
{
    (void)arg;
    pthread_spin_lock(&spin);
    pthread_mutex_lock(&mutex);
    steps++;
    pthread_mutex_unlock(&mutex);
    pthread_spin_unlock(&spin);
    return NULL;
}

static void *mutex_first(void *arg)
{
    (void)arg;
    pthread_mutex_lock(&mutex);
    pthread_spin_lock(&spin);
    steps++;
    pthread_spin_unlock(&spin);
    pthread_mutex_unlock(&mutex);
    return NULL;
}

int main(void)
{
    pthread_t a, b;
    pthread_spin_init(&spin, PTHREAD_PROCESS_PRIVATE);
    pthread_create(&a, NULL, spin_first, NULL);
    pthread_create(&b, NULL, mutex_first, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return 0;
}
