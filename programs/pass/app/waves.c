//@ expect: pass
//@ execs: 20
// Two hundred threads in waves of twenty: each wave reuses the stacks of the last, locks a mutex on its
// creator's stack, and leaves its sum. Half of a wave is detached and counted instead of joined.
#include <assert.h>
#include <pthread.h>
#include <string.h>

enum { N_WAVES = 10, N_EACH = 20 };

struct wave {
    pthread_mutex_t lock;
    pthread_cond_t is_over;
    int sum, n_left;
};

struct job {
    struct wave *wave;
    int number;
};

static void *run(void *arg)
{
    struct job *job = arg;
    struct wave *wave = job->wave;
    int local[32];
    for (int i = 0; i < 32; i++)
        local[i] = job->number;
    pthread_mutex_lock(&wave->lock);
    wave->sum += local[job->number % 32];
    if (--wave->n_left == 0)
        pthread_cond_signal(&wave->is_over);
    pthread_mutex_unlock(&wave->lock);
    return arg;
}

static int one_wave(void)
{
    struct wave wave = { .n_left = N_EACH };
    struct job jobs[N_EACH];
    pthread_t threads[N_EACH];
    assert(pthread_mutex_init(&wave.lock, NULL) == 0);
    assert(pthread_cond_init(&wave.is_over, NULL) == 0);
    for (int i = 0; i < N_EACH; i++) {
        jobs[i] = (struct job){ &wave, i };
        assert(pthread_create(&threads[i], NULL, run, &jobs[i]) == 0);
    }
    for (int i = 0; i < N_EACH; i++) {
        void *result = NULL;
        if (i % 2) {
            assert(pthread_detach(threads[i]) == 0);
        } else {
            assert(pthread_join(threads[i], &result) == 0);
            assert(result == &jobs[i]);
        }
    }
    pthread_mutex_lock(&wave.lock);
    while (wave.n_left > 0)
        pthread_cond_wait(&wave.is_over, &wave.lock);
    int sum = wave.sum;
    pthread_mutex_unlock(&wave.lock);
    // A detached thread may still be inside its unlock: glibc allows to destroy the mutex then.
    assert(pthread_cond_destroy(&wave.is_over) == 0);
    assert(pthread_mutex_destroy(&wave.lock) == 0);
    return sum;
}

int main(void)
{
    int total = 0;
    for (int i = 0; i < N_WAVES; i++)
        total += one_wave();
    assert(total == N_WAVES * N_EACH * (N_EACH - 1) / 2);
    return 0;
}
