//@ expect: deadlock
//@ execs: 500
//@ cause: pthread_rwlock_rdlock(&lock); | pthread_rwlock_wrlock(&lock);
//@ says: lock T1 T2
// A reader of a lock that prefers writers asks for it a second time while it holds it. A writer who came in between
// waits for the first time to end, and the reader waits for the writer.
#define _GNU_SOURCE
#include <pthread.h>

static pthread_rwlock_t lock = PTHREAD_RWLOCK_WRITER_NONRECURSIVE_INITIALIZER_NP;
static int value;

static int get(void)
{
    pthread_rwlock_rdlock(&lock);
    int seen = value;
    pthread_rwlock_unlock(&lock);
    return seen;
}

static void *reader(void *arg)
{
    pthread_rwlock_rdlock(&lock);
    int twice = value + get();
    pthread_rwlock_unlock(&lock);
    return twice % 2 == 0 ? arg : &value;
}

static void *writer(void *arg)
{
    pthread_rwlock_wrlock(&lock);
    value++;
    pthread_rwlock_unlock(&lock);
    return arg;
}

int main(void)
{
    pthread_t one, other;
    pthread_create(&one, NULL, reader, NULL);
    pthread_create(&other, NULL, writer, NULL);
    pthread_join(one, NULL);
    pthread_join(other, NULL);
    return 0;
}
