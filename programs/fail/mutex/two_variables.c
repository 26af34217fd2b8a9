//@ expect: assert
//@ execs: 500
//@ cause: length++; | int n = length, s = sum; | sum += 10;
//@ says: length sum T1 T2
// Atomicity violation on two variables: length and sum are each locked, but not together.
#include <assert.h>
#include <pthread.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int length, sum; // invariant: sum == 10 * length

static void *appender(void *arg)
{
    (void)arg;
    for (int i = 0; i < 2; i++) {
        pthread_mutex_lock(&lock);
        length++;
        pthread_mutex_unlock(&lock);
        pthread_mutex_lock(&lock);
        sum += 10;
        pthread_mutex_unlock(&lock);
    }
    return NULL;
}

static void *auditor(void *arg)
{
    (void)arg;
    pthread_mutex_lock(&lock);
    int n = length, s = sum;
    pthread_mutex_unlock(&lock);
    assert(s == 10 * n);
    return NULL;
}

int main(void)
{
    pthread_t a, b;
    pthread_create(&a, NULL, appender, NULL);
    pthread_create(&b, NULL, auditor, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return 0;
}
