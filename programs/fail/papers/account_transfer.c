//@ expect: assert
//@ execs: 500
//@ cause: to->balance = to->balance + amount;
//@ says: a.balance T1 T2
// Who transfers money holds the lock of the account it comes from, and changes both.
#include <assert.h>
#include <pthread.h>

enum { BEGIN = 100, AMOUNT = 30 };
static struct account {
    pthread_mutex_t lock;
    volatile int balance;
} a = {PTHREAD_MUTEX_INITIALIZER, BEGIN}, b = {PTHREAD_MUTEX_INITIALIZER, BEGIN};

static void transfer(struct account *from, struct account *to, int amount)
{
    pthread_mutex_lock(&from->lock);
    from->balance = from->balance - amount;
    to->balance = to->balance + amount;
    pthread_mutex_unlock(&from->lock);
}

static void *pay(void *arg)
{
    transfer(&a, &b, AMOUNT);
    return arg;
}

static void *pay_back(void *arg)
{
    transfer(&b, &a, AMOUNT);
    return arg;
}

int main(void)
{
    pthread_t t[2];
    pthread_create(&t[0], NULL, pay, NULL);
    pthread_create(&t[1], NULL, pay_back, NULL);
    pthread_join(t[0], NULL);
    pthread_join(t[1], NULL);
    assert(a.balance + b.balance == 2 * BEGIN);
    return 0;
}
