//@ expect: pass
//@ execs: 200
// Try-lock with a fallback: what can't be counted at once is kept aside and added at the end.
#include <assert.h>
#include <errno.h>
#include <pthread.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int total;

static void *worker(void *arg)
{
    (void)arg;
    int aside = 0;
    for (int i = 0; i < 3; i++) {
        int rc = pthread_mutex_trylock(&lock);
        if (rc == 0) {
            total++;
            pthread_mutex_unlock(&lock);
        } else {
            assert(rc == EBUSY);
            aside++;
        }
    }
    pthread_mutex_lock(&lock);
    total += aside;
    pthread_mutex_unlock(&lock);
    return NULL;
}

int main(void)
{
    pthread_t t[3];
    for (int i = 0; i < 3; i++)
        pthread_create(&t[i], NULL, worker, NULL);
    for (int i = 0; i < 3; i++)
        pthread_join(t[i], NULL);
    assert(total == 9);
    return 0;
}
