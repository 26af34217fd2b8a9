//@ expect: assert
//@ execs: 500
//@ cause: int n = lookups; | lookups = n + 1;
//@ says: lookups T1 T2
// A "small" write is made under the read lock: two of them overlap and one is lost.
#include <assert.h>
#include <pthread.h>

static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
static int table = 5, lookups;

static void *lookup(void *arg)
{
    (void)arg;
    pthread_rwlock_rdlock(&lock);
    assert(table == 5);
    int n = lookups;
    lookups = n + 1;
    pthread_rwlock_unlock(&lock);
    return NULL;
}

int main(void)
{
    pthread_t a, b;
    pthread_create(&a, NULL, lookup, NULL);
    pthread_create(&b, NULL, lookup, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    assert(lookups == 2);
    return 0;
}
