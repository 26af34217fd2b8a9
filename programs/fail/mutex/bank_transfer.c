//@ expect: assert
//@ execs: 500
//@ cause: move(&left, -30); | move(&right, 30); | int total = move(&left, 0) + move(&right, 0);
//@ says: left.balance right.balance T1 T2
// Money is in flight between two locked accounts; an audit in the middle misses it.
#include <assert.h>
#include <pthread.h>

struct account {
    pthread_mutex_t lock;
    int balance;
};
static struct account left = {PTHREAD_MUTEX_INITIALIZER, 100};
static struct account right = {PTHREAD_MUTEX_INITIALIZER, 100};

static int move(struct account *acc, int amount)
{
    pthread_mutex_lock(&acc->lock);
    int now = acc->balance += amount;
    pthread_mutex_unlock(&acc->lock);
    return now;
}

static void *transfer(void *arg)
{
    (void)arg;
    move(&left, -30);
    move(&right, 30);
    return NULL;
}

static void *audit(void *arg)
{
    (void)arg;
    int total = move(&left, 0) + move(&right, 0);
    assert(total == 200);
    return NULL;
}

int main(void)
{
    pthread_t a, b;
    pthread_create(&a, NULL, transfer, NULL);
    pthread_create(&b, NULL, audit, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return 0;
}
