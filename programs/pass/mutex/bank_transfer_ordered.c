//@ expect: pass
//@ execs: 200
// Transfers take both account locks in index order: no deadlock, and the sum is kept.
#include <assert.h>
#include <pthread.h>
#include <stdint.h>

static pthread_mutex_t lock[3] = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER,
                                  PTHREAD_MUTEX_INITIALIZER};
static int balance[3] = {50, 50, 50};

static void *transfer(void *arg)
{
    int from = (int)(intptr_t)arg, to = (from + 1) % 3;
    int lo = from < to ? from : to, hi = from < to ? to : from;
    for (int i = 0; i < 2; i++) {
        pthread_mutex_lock(&lock[lo]);
        pthread_mutex_lock(&lock[hi]);
        int sum = balance[from] + balance[to];
        balance[from] -= 7;
        balance[to] += 7;
        assert(balance[from] + balance[to] == sum);
        pthread_mutex_unlock(&lock[hi]);
        pthread_mutex_unlock(&lock[lo]);
    }
    return NULL;
}

int main(void)
{
    pthread_t t[3];
    for (int i = 0; i < 3; i++)
        pthread_create(&t[i], NULL, transfer, (void *)(intptr_t)i);
    for (int i = 0; i < 3; i++)
        pthread_join(t[i], NULL);
    assert(balance[0] == 50 && balance[1] == 50 && balance[2] == 50);
    return 0;
}
