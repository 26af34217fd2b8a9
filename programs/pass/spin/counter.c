//@ expect: pass
//@ execs: 200
// A pthread spin lock with lock and trylock around a shared counter.
#include <assert.h>
#include <errno.h>
#include <pthread.h>

static pthread_spinlock_t lock;
static int count, tries;

static void *locker(void *arg)
{
    (void)arg;
    for (int i = 0; i < 3; i++) {
        pthread_spin_lock(&lock);
        count++;
        pthread_spin_unlock(&lock);
    }
    return NULL;
}

static void *trier(void *arg)
{
    (void)arg;
    for (int i = 0; i < 3; i++) {
        int rc = pthread_spin_trylock(&lock);
        if (rc == 0) {
            count++;
            tries++;
            pthread_spin_unlock(&lock);
        } else {
            assert(rc == EBUSY);
        }
    }
    return NULL;
}

int main(void)
{
    pthread_t a, b, c;
    pthread_spin_init(&lock, PTHREAD_PROCESS_PRIVATE);
    pthread_create(&a, NULL, locker, NULL);
    pthread_create(&b, NULL, locker, NULL);
    pthread_create(&c, NULL, trier, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    pthread_join(c, NULL);
    assert(count == 6 + tries);
    return pthread_spin_destroy(&lock);
}
