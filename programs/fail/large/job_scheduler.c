//@ expect: assert
//@ execs: 4000
//@ cause: atomic_fetch_sub(&next->n_missing, 1); | if (atomic_load(&next->n_missing) == 0)
//@ says: jobs[9].n_missing T1 T2
// Jobs that wait for others. Who finishes a job counts it off at each of those that wait for it, and looks afterwards
// whether anything is missing: when the last two come together, both find nothing missing and the job runs twice.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

enum { JOBS = 10, WORKERS = 3, FOLLOWERS = 3, QUEUE = 32 };

struct job {
    atomic_int n_missing;
    atomic_int n_runs;
    int cost;
    int followers[FOLLOWERS];
    int n_followers;
};

static struct job jobs[JOBS];
static struct {
    pthread_mutex_t lock;
    int slots[QUEUE];
    int head, tail;
} ready = {.lock = PTHREAD_MUTEX_INITIALIZER};
static struct {
    pthread_mutex_t lock;
    long total_cost;
    int n_by_worker[WORKERS];
} accounting = {.lock = PTHREAD_MUTEX_INITIALIZER};

static void push(int job)
{
    pthread_mutex_lock(&ready.lock);
    ready.slots[ready.tail++ % QUEUE] = job;
    pthread_mutex_unlock(&ready.lock);
}

static int pop(void)
{
    int job = -1;
    pthread_mutex_lock(&ready.lock);
    if (ready.head < ready.tail)
        job = ready.slots[ready.head++ % QUEUE];
    pthread_mutex_unlock(&ready.lock);
    return job;
}

static void account(int worker, int cost)
{
    pthread_mutex_lock(&accounting.lock);
    accounting.total_cost += cost;
    accounting.n_by_worker[worker]++;
    pthread_mutex_unlock(&accounting.lock);
}

static void complete(struct job *job)
{
    for (int i = 0; i < job->n_followers; i++) {
        struct job *next = &jobs[job->followers[i]];
#ifdef FIXED
        if (atomic_fetch_sub(&next->n_missing, 1) == 1)
            push((int)(next - jobs));
#else
        atomic_fetch_sub(&next->n_missing, 1);
        if (atomic_load(&next->n_missing) == 0)
            push((int)(next - jobs));
#endif
    }
}

static void run(int worker, int number)
{
    struct job *job = &jobs[number];
    assert(atomic_fetch_add(&job->n_runs, 1) == 0);
    account(worker, job->cost);
    complete(job);
}

static void *work(void *arg)
{
    int worker = *(int *)arg;
    for (int number = pop(); number >= 0; number = pop())
        run(worker, number);
    return NULL;
}

static void wait_for(int job, int first)
{
    jobs[first].followers[jobs[first].n_followers++] = job;
    atomic_fetch_add(&jobs[job].n_missing, 1);
}

int main(void)
{
    // The last job of all waits for the end of a long chain, and for one that was ready from the beginning.
    static const int edges[][2] = {{9, 0}, {2, 1}, {4, 2}, {5, 4}, {6, 5}, {7, 6}, {8, 7}, {9, 8}};
    for (int i = 0; i < JOBS; i++)
        jobs[i].cost = 1 + i % 4;
    for (size_t i = 0; i < sizeof(edges) / sizeof *edges; i++)
        wait_for(edges[i][0], edges[i][1]);
    for (int i = 0; i < JOBS; i++)
        if (atomic_load(&jobs[i].n_missing) == 0)
            push(i);
    pthread_t threads[WORKERS];
    int numbers[WORKERS];
    for (int i = 0; i < WORKERS; i++) {
        numbers[i] = i;
        pthread_create(&threads[i], NULL, work, &numbers[i]);
    }
    for (int i = 0; i < WORKERS; i++)
        pthread_join(threads[i], NULL);
    return 0;
}
