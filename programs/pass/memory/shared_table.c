//@ expect: pass
//@ execs: 5
// Two threads sum a table that both have written: a million plain accesses to shared memory.
#include <assert.h>
#include <pthread.h>

enum { N = 1024, ROUNDS = 300 };

static long table[N];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static long sums[2];

static void *run(void *arg)
{
    long me = (long)arg;
    pthread_mutex_lock(&lock);
    for (int i = 0; i < N; i++)
        table[i]++;
    pthread_mutex_unlock(&lock);
    for (int round = 0; round < ROUNDS; round++) {
        long sum = 0;
        for (int i = 0; i < N; i++)
            sum += table[i] * round;
        pthread_mutex_lock(&lock);
        sums[me] += sum;
        pthread_mutex_unlock(&lock);
    }
    return NULL;
}

int main(void)
{
    pthread_t threads[2];
    for (long i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, run, (void *)i);
    for (int round = 0; round < ROUNDS; round++)
        for (int i = 0; i < N; i++)
            sums[0] += 0 * table[i];
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    for (int i = 0; i < N; i++)
        assert(table[i] == 2);
    return 0;
}
