// A thread manager: a thin layer of monitors (a mutex with a condition) over threads, a pool of workers, and a queue of
// tasks, five for each worker. A worker says that it has started under the manager's monitor, and tells whoever waits for
// that under a second one, inside. Whoever adds the workers takes the two in the other order, to count them while
// it waits.
// Bug: deadlock. Argument: workers.
#include <pthread.h>
#include <stdlib.h>

enum { TASKS_EACH = 5, ROOM = 2 };

struct monitor {
    pthread_mutex_t lock;
    pthread_cond_t changed;
};

#define MONITOR {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER}

static struct monitor manager = MONITOR, starting = MONITOR, not_full = MONITOR;
static int n_workers, n_workers_max, n_queued, is_stopping, n_done;

static void enter(struct monitor *it)
{
    pthread_mutex_lock(&it->lock);
}

static void leave(struct monitor *it)
{
    pthread_mutex_unlock(&it->lock);
}

static void await(struct monitor *it)
{
    pthread_cond_wait(&it->changed, &it->lock);
}

static void notify(struct monitor *it)
{
    pthread_cond_broadcast(&it->changed);
}

static void start_up(void)
{
    enter(&manager);
    n_workers++;
    if (n_workers == n_workers_max) {
        enter(&starting);
        notify(&starting);
        leave(&starting);
    }
    leave(&manager);
}

static int take_task(void)
{
    enter(&manager);
    while (n_queued == 0 && !is_stopping)
        await(&manager);
    int is_there = n_queued > 0;
    if (is_there)
        n_queued--;
    leave(&manager);
    return is_there;
}

static void *work(void *arg)
{
    start_up();
    while (take_task()) {
        enter(&not_full);
        n_done++;
        notify(&not_full);
        leave(&not_full);
    }
    return arg;
}

static int n_started(void)
{
    enter(&manager);
    int n = n_workers;
    leave(&manager);
    return n;
}

static void add_workers(pthread_t *workers, int n)
{
    n_workers_max = n;
    for (int i = 0; i < n; i++)
        pthread_create(&workers[i], NULL, work, NULL);
    enter(&starting);
    while (n_started() < n)
        await(&starting);
    leave(&starting);
}

static void add_task(int number)
{
    enter(&not_full);
    while (number - n_done >= ROOM)
        await(&not_full);
    leave(&not_full);
    enter(&manager);
    n_queued++;
    notify(&manager);
    leave(&manager);
}

int main(int argc, char **argv)
{
    int n = argc > 1 ? atoi(argv[1]) : 2;
    pthread_t workers[16];
    add_workers(workers, n);
    for (int i = 0; i < n * TASKS_EACH; i++)
        add_task(i);
    enter(&manager);
    is_stopping = 1;
    notify(&manager);
    leave(&manager);
    for (int i = 0; i < n; i++)
        pthread_join(workers[i], NULL);
    return 0;
}
