//@ expect: pass
//@ execs: 5
// Two threads sum a table that both have written: a million plain accesses to shared memory.
#include <assert.h>
#include <pthread.h>

enum { N = 1024, ROUNDS = 300 };

static long table[N];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_barrier_t written;
static long sums[3];

static void sum_up(long me)
{
    for (int round = 0; round < ROUNDS; round++) {
        long sum = 0;
        for (int i = 0; i < N; i++)
            sum += table[i] * round;
        pthread_mutex_lock(&lock);
        sums[me] += sum;
        pthread_mutex_unlock(&lock);
    }
}

static void *run(void *arg)
{
    pthread_mutex_lock(&lock);
    for (int i = 0; i < N; i++)
        table[i]++;
    pthread_mutex_unlock(&lock);
    pthread_barrier_wait(&written);
    sum_up((long)arg);
    return NULL;
}

int main(void)
{
    pthread_t threads[2];
    pthread_barrier_init(&written, NULL, 3);
    for (long i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, run, (void *)i);
    pthread_barrier_wait(&written);
    sum_up(2);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    for (int i = 0; i < N; i++)
        assert(table[i] == 2);
    assert(sums[0] == sums[1] && sums[1] == sums[2]);
    return 0;
}
