// A parallel file scanner: `main` says how many workers are active only when it has created them, then feeds them the
// names of files through a queue, and sleeps until no worker is active. A worker that is done before is not counted.
// Bug: deadlock (order violation). Argument: workers.
#include <pthread.h>
#include <stdlib.h>

enum { FILES = 3, MATCHES = 2 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER, queue_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t print_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t all_done = PTHREAD_COND_INITIALIZER;
static int n_active, n_files = FILES, n_found;

static int take_file(void)
{
    pthread_mutex_lock(&queue_lock);
    int is_there = n_files > 0;
    if (is_there)
        n_files--;
    pthread_mutex_unlock(&queue_lock);
    return is_there;
}

static void print_match(void)
{
    pthread_mutex_lock(&print_lock);
    n_found++;
    pthread_mutex_unlock(&print_lock);
}

static void *scan(void *arg)
{
    while (take_file())
        for (int i = 0; i < MATCHES; i++)
            print_match();
    pthread_mutex_lock(&lock);
    n_active--;
    if (n_active == 0)
        pthread_cond_signal(&all_done);
    pthread_mutex_unlock(&lock);
    return arg;
}

static void set_active(int n)
{
    pthread_mutex_lock(&lock);
    n_active = n;
    pthread_mutex_unlock(&lock);
}

int main(int argc, char **argv)
{
    int n_workers = argc > 1 ? atoi(argv[1]) : 2;
    pthread_t workers[16];
    for (int i = 0; i < n_workers; i++)
        pthread_create(&workers[i], NULL, scan, NULL);
    set_active(n_workers);
    pthread_mutex_lock(&lock);
    while (n_active > 0)
        pthread_cond_wait(&all_done, &lock);
    pthread_mutex_unlock(&lock);
    for (int i = 0; i < n_workers; i++)
        pthread_join(workers[i], NULL);
    return 0;
}
