//@ expect: pass
//@ execs: 200
// Readers never see a writer's work half done.
#include <assert.h>
#include <pthread.h>

static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
static int left, right;

static void *writer(void *arg)
{
    (void)arg;
    for (int i = 0; i < 2; i++) {
        pthread_rwlock_wrlock(&lock);
        left++;
        right++;
        pthread_rwlock_unlock(&lock);
    }
    return NULL;
}

static void *reader(void *arg)
{
    (void)arg;
    for (int i = 0; i < 2; i++) {
        pthread_rwlock_rdlock(&lock);
        assert(left == right);
        pthread_rwlock_unlock(&lock);
    }
    return NULL;
}

int main(void)
{
    pthread_t t[4];
    for (int i = 0; i < 4; i++)
        pthread_create(&t[i], NULL, i % 2 ? writer : reader, NULL);
    for (int i = 0; i < 4; i++)
        pthread_join(t[i], NULL);
    assert(left == 4 && right == 4);
    return pthread_rwlock_destroy(&lock);
}
