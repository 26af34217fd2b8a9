/* Workers take tasks from a ring under a lock; `main` hands them out and then says that it was the last. A
   worker that looks for the last word in a section of its own, and then waits in the next one, may wait for a
   signal that has been sent. */
#include <assert.h>
#include <pthread.h>

enum { N_WORKERS = 2, N_TASKS = 4, SIZE = 12 };
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int tasks[N_TASKS][SIZE], n_given, n_taken, is_over;
static long sums[N_TASKS];

static int is_last_word(void)
{
    pthread_mutex_lock(&lock);
    int is_it = is_over && n_taken == n_given;
    pthread_mutex_unlock(&lock);
    return is_it;
}

static void *work(void *arg)
{
    while (!is_last_word()) {
        pthread_mutex_lock(&lock);
        if (n_taken == n_given)
            pthread_cond_wait(&changed, &lock);
        if (n_taken < n_given) {
            int task = n_taken++;
            for (int i = 0; i < SIZE; i++)
                sums[task] += tasks[task][i];
        }
        pthread_mutex_unlock(&lock);
    }
    return arg;
}

int main(void)
{
    pthread_t workers[N_WORKERS];
    for (int i = 0; i < N_WORKERS; i++)
        pthread_create(&workers[i], NULL, work, NULL);
    for (int i = 0; i < N_TASKS; i++) {
        pthread_mutex_lock(&lock);
        for (int k = 0; k < SIZE; k++)
            tasks[i][k] = i + k;
        n_given++;
        pthread_cond_broadcast(&changed);
        pthread_mutex_unlock(&lock);
    }
    pthread_mutex_lock(&lock);
    is_over = 1;
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&lock);
    for (int i = 0; i < N_WORKERS; i++)
        pthread_join(workers[i], NULL);
    assert(n_taken == N_TASKS);
    return 0;
}
