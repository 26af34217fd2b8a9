//@ expect: assert
//@ execs: 500
//@ cause: pthread_rwlock_rdlock(&lock); | if (pthread_rwlock_trywrlock(&lock) == 0)
//@ says: lock T1 T2
// A writer that does not get the lock at once leaves the table as it is; then nobody has filled it.
#include <assert.h>
#include <pthread.h>

static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
static int is_filled;

static void *fill(void *arg)
{
    (void)arg;
    if (pthread_rwlock_trywrlock(&lock) == 0) {
        is_filled = 1;
        pthread_rwlock_unlock(&lock);
    }
    return NULL;
}

static void *look(void *arg)
{
    (void)arg;
    pthread_rwlock_rdlock(&lock);
    pthread_rwlock_unlock(&lock);
    return NULL;
}

int main(void)
{
    pthread_t t[2];
    pthread_create(&t[0], NULL, fill, NULL);
    pthread_create(&t[1], NULL, look, NULL);
    for (int i = 0; i < 2; i++)
        pthread_join(t[i], NULL);
    assert(is_filled);
    return 0;
}
