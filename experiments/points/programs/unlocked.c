/* A statistic behind a lock, and beside it a count that nobody takes the lock for: accesses to that one are
   scheduling points as soon as some execution has shown the race. */
#include <assert.h>
#include <pthread.h>

enum { N_ROUNDS = 3, N_VALUES = 10 };
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int values[N_VALUES], sum, n_rounds;

static void *update(void *arg)
{
    for (int round = 0; round < N_ROUNDS; round++) {
        pthread_mutex_lock(&lock);
        for (int i = 0; i < N_VALUES; i++)
            values[i]++;
        sum = 0;
        for (int i = 0; i < N_VALUES; i++)
            sum += values[i];
        pthread_mutex_unlock(&lock);
        n_rounds++;
    }
    return arg;
}

static void *look(void *arg)
{
    for (int round = 0; round < N_ROUNDS; round++) {
        pthread_mutex_lock(&lock);
        assert(sum == values[0] * N_VALUES);
        pthread_mutex_unlock(&lock);
        n_rounds++;
    }
    return arg;
}

int main(void)
{
    pthread_t one, other;
    pthread_create(&one, NULL, update, NULL);
    pthread_create(&other, NULL, look, NULL);
    pthread_join(one, NULL);
    pthread_join(other, NULL);
    assert(n_rounds == 2 * N_ROUNDS);
    return 0;
}
