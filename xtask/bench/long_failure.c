// Ten thousand steps, nearly all of them in order, and some updates that can be lost.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

enum { THREADS = 4, ROUNDS = 768, EVERY = 64 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int rounds;
static atomic_int total;

static void add_one(void)
{
    int seen = atomic_load(&total);
    atomic_store(&total, seen + 1);
}

static void *work(void *arg)
{
    for (int i = 0; i < ROUNDS; i++) {
        pthread_mutex_lock(&lock);
        rounds++;
        pthread_mutex_unlock(&lock);
        if (i % EVERY == 0)
            add_one();
    }
    return arg;
}

int main(void)
{
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, work, NULL);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    assert(total == THREADS * (ROUNDS / EVERY));
    return 0;
}
