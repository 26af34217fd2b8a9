//@ expect: livelock
//@ execs: 500
//@ cause: while (pthread_mutex_trylock(&lock) != 0) | while (!atomic_load(&is_done))
//@ says: T0 T1
//@ unsaid: `lock`
// Who holds the lock waits for a flag that the other sets only when it has the lock, and both only try.
#include <pthread.h>
#include <stdatomic.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static atomic_int is_done;

static void *hold(void *arg)
{
    pthread_mutex_lock(&lock);
    while (!atomic_load(&is_done))
        ;
    pthread_mutex_unlock(&lock);
    return arg;
}

int main(void)
{
    pthread_t thread;
    pthread_create(&thread, NULL, hold, NULL);
    while (pthread_mutex_trylock(&lock) != 0)
        ;
    atomic_store(&is_done, 1);
    pthread_mutex_unlock(&lock);
    pthread_join(thread, NULL);
    return 0;
}
