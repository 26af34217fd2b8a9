//@ expect: livelock
//@ execs: 500
//@ cause: while (atomic_flag_test_and_set(&lock))
//@ says: T1
// A hand-made atomic spin lock is left locked on the early return; the next thread spins forever.
#include <pthread.h>
#include <stdatomic.h>

static atomic_flag lock = ATOMIC_FLAG_INIT;
static int credit;

static void acquire(void)
{
    while (atomic_flag_test_and_set(&lock))
        ;
}

static void *spender(void *arg)
{
    (void)arg;
    acquire();
    if (credit == 0)
        return NULL; // forgot to release
    credit--;
    atomic_flag_clear(&lock);
    return NULL;
}

static void *earner(void *arg)
{
    (void)arg;
    acquire();
    credit++;
    atomic_flag_clear(&lock);
    return NULL;
}

int main(void)
{
    pthread_t a, b;
    pthread_create(&a, NULL, earner, NULL);
    pthread_create(&b, NULL, spender, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return 0;
}
