// A thread manager and its pool of workers. Five tasks for each worker pass through a queue with room for two.
// Whoever waits for the last task looks whether it is done without the lock, and takes the lock to sleep:
// the last worker's signal may come in between.
// Bug: deadlock. Argument: workers.
#include <pthread.h>
#include <stdlib.h>

enum { TASKS_EACH = 5, ROOM = 2 };

static pthread_mutex_t queue_lock = PTHREAD_MUTEX_INITIALIZER, done_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t not_empty = PTHREAD_COND_INITIALIZER, not_full = PTHREAD_COND_INITIALIZER;
static pthread_cond_t all_done = PTHREAD_COND_INITIALIZER;
static int n_queued, is_stopping;
static volatile int n_left;

static void run_task(void)
{
    pthread_mutex_lock(&done_lock);
    if (--n_left == 0)
        pthread_cond_signal(&all_done);
    pthread_mutex_unlock(&done_lock);
}

static void *work(void *arg)
{
    for (;;) {
        pthread_mutex_lock(&queue_lock);
        while (n_queued == 0 && !is_stopping)
            pthread_cond_wait(&not_empty, &queue_lock);
        if (n_queued == 0) {
            pthread_mutex_unlock(&queue_lock);
            return arg;
        }
        if (n_queued-- == ROOM)
            pthread_cond_signal(&not_full);
        pthread_mutex_unlock(&queue_lock);
        run_task();
    }
}

static void add_task(void)
{
    pthread_mutex_lock(&queue_lock);
    while (n_queued == ROOM)
        pthread_cond_wait(&not_full, &queue_lock);
    n_queued++;
    pthread_cond_signal(&not_empty);
    pthread_mutex_unlock(&queue_lock);
}

int main(int argc, char **argv)
{
    int n_workers = argc > 1 ? atoi(argv[1]) : 2;
    pthread_t workers[16];
    n_left = n_workers * TASKS_EACH;
    for (int i = 0; i < n_workers; i++)
        pthread_create(&workers[i], NULL, work, NULL);
    for (int i = 0; i < n_workers * TASKS_EACH; i++)
        add_task();
    while (n_left > 0) {
        pthread_mutex_lock(&done_lock);
        pthread_cond_wait(&all_done, &done_lock);
        pthread_mutex_unlock(&done_lock);
    }
    pthread_mutex_lock(&queue_lock);
    is_stopping = 1;
    pthread_cond_broadcast(&not_empty);
    pthread_mutex_unlock(&queue_lock);
    for (int i = 0; i < n_workers; i++)
        pthread_join(workers[i], NULL);
    return 0;
}
