//@ expect: deadlock
//@ execs: 500
//@ cause: pthread_rwlock_rdlock(&users); | pthread_rwlock_wrlock(&groups); | pthread_rwlock_rdlock(&groups); | pthread_rwlock_wrlock(&users);
//@ says: groups users T1 T2
// Each thread holds one lock for reading and wants the other for writing: a cycle of readers and writers.
#include <pthread.h>

static pthread_rwlock_t users = PTHREAD_RWLOCK_INITIALIZER;
static pthread_rwlock_t groups = PTHREAD_RWLOCK_INITIALIZER;
static int members, owners;

static void *join_group(void *arg)
{
    (void)arg;
    pthread_rwlock_rdlock(&users);
    pthread_rwlock_wrlock(&groups);
    members++;
    pthread_rwlock_unlock(&groups);
    pthread_rwlock_unlock(&users);
    return NULL;
}

static void *own_group(void *arg)
{
    (void)arg;
    pthread_rwlock_rdlock(&groups);
    pthread_rwlock_wrlock(&users);
    owners++;
    pthread_rwlock_unlock(&users);
    pthread_rwlock_unlock(&groups);
    return NULL;
}

int main(void)
{
    pthread_t a, b;
    pthread_create(&a, NULL, join_group, NULL);
    pthread_create(&b, NULL, own_group, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return 0;
}
