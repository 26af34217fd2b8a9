/* A small bank that locks accounts in the order of their addresses. */
#include <pthread.h>
#include <stdio.h>

struct account {
    pthread_mutex_t lock;
    int balance;
};

static struct account alice = {PTHREAD_MUTEX_INITIALIZER, 100};
static struct account bob = {PTHREAD_MUTEX_INITIALIZER, 100};

/* Both accounts are locked, so nobody ever sees money that is on its way. */
static void transfer(struct account *from, struct account *to, int amount)
{
    struct account *first = from < to ? from : to;
    struct account *second = from < to ? to : from;
    pthread_mutex_lock(&first->lock);
    pthread_mutex_lock(&second->lock);
    if (from->balance >= amount) {
        from->balance -= amount;
        to->balance += amount;
    }
    pthread_mutex_unlock(&to->lock);
    pthread_mutex_unlock(&from->lock);
}

static void *alice_pays_rent(void *unused)
{
    transfer(&alice, &bob, 70);
    return unused;
}

static void *bob_pays_back(void *unused)
{
    transfer(&bob, &alice, 20);
    return unused;
}

int main(void)
{
    pthread_t rent, debt;
    pthread_create(&rent, NULL, alice_pays_rent, NULL);
    pthread_create(&debt, NULL, bob_pays_back, NULL);
    pthread_join(rent, NULL);
    pthread_join(debt, NULL);
    printf("total %d\n", alice.balance + bob.balance);
    return 0;
}
