//@ expect: assert
//@ execs: 500
//@ cause: is_deposited = 1; | if (is_deposited && is_withdrawn) | balance += 4;
//@ says: balance T1 T2
// Deposit and withdrawal are each locked; the check that both have happened relies on flags that are set
// outside the lock, before the balance.
#include <assert.h>
#include <pthread.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int balance = 10, is_deposited, is_withdrawn;

static void *deposit(void *arg)
{
    is_deposited = 1;
    pthread_mutex_lock(&lock);
    balance += 4;
    pthread_mutex_unlock(&lock);
    return arg;
}

static void *withdraw(void *arg)
{
    pthread_mutex_lock(&lock);
    balance -= 3;
    is_withdrawn = 1;
    pthread_mutex_unlock(&lock);
    return arg;
}

static void *check(void *arg)
{
    pthread_mutex_lock(&lock);
    if (is_deposited && is_withdrawn)
        assert(balance == 11);
    pthread_mutex_unlock(&lock);
    return arg;
}

int main(void)
{
    void *(*const bodies[])(void *) = {check, deposit, withdraw};
    pthread_t t[3];
    for (int i = 0; i < 3; i++)
        pthread_create(&t[i], NULL, bodies[i], NULL);
    for (int i = 0; i < 3; i++)
        pthread_join(t[i], NULL);
    return 0;
}
