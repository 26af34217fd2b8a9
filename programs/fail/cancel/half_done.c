//@ expect: assert
//@ execs: 500
//@ cause: pthread_testcancel(); | pthread_cancel(
//@ says: T1 T2
// A cancellation point sits between the two halves of an update.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

static atomic_int debit, credit;

static void *transfer(void *arg)
{
    (void)arg;
    atomic_fetch_add(&debit, 5);
    pthread_testcancel();
    atomic_fetch_add(&credit, 5);
    return NULL;
}

static void *canceller(void *arg)
{
    if (atomic_load(&credit) == 0)
        pthread_cancel(*(pthread_t *)arg);
    return NULL;
}

int main(void)
{
    static pthread_t t, c;
    pthread_create(&t, NULL, transfer, NULL);
    pthread_create(&c, NULL, canceller, &t);
    pthread_join(c, NULL);
    pthread_join(t, NULL);
    assert(atomic_load(&debit) == atomic_load(&credit));
    return 0;
}
