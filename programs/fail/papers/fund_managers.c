//@ expect: assert
//@ execs: 500
//@ cause: accounts[to].money += amount;
//@ says: money T1 T2
// Managers move money between accounts. Every account has a lock, but a transfer takes only the lock of
// the account that pays. (Stoller's second example.)
#include <assert.h>
#include <pthread.h>
#include <stdint.h>

#ifndef MANAGERS
#define MANAGERS 2
#define TRANSFERS 3
#endif
enum { ACCOUNTS = 4, EACH = 100 };
static struct {
    pthread_mutex_t lock;
    int money;
} accounts[ACCOUNTS];

static void transfer(int from, int to, int amount)
{
    pthread_mutex_lock(&accounts[from].lock);
    accounts[from].money -= amount;
    accounts[to].money += amount;
    pthread_mutex_unlock(&accounts[from].lock);
}

static void *manage(void *arg)
{
    int number = (int)(intptr_t)arg;
    for (int i = 0; i < TRANSFERS; i++)
        transfer((number + i) % ACCOUNTS, (number + 2 * i + 1) % ACCOUNTS, 10);
    return NULL;
}

int main(void)
{
    pthread_t t[MANAGERS];
    int total = 0;
    for (int i = 0; i < ACCOUNTS; i++) {
        pthread_mutex_init(&accounts[i].lock, NULL);
        accounts[i].money = EACH;
    }
    for (int i = 0; i < MANAGERS; i++)
        pthread_create(&t[i], NULL, manage, (void *)(intptr_t)i);
    for (int i = 0; i < MANAGERS; i++)
        pthread_join(t[i], NULL);
    for (int i = 0; i < ACCOUNTS; i++)
        total += accounts[i].money;
    assert(total == ACCOUNTS * EACH);
    return 0;
}
