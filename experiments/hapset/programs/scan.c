// A parallel file scanner: `main` says how many workers are active only when it has created them, and sleeps
// until none is. A worker that is done before is not counted.
// Bug: deadlock (order violation). Argument: workers.
#include <pthread.h>
#include <stdlib.h>

enum { FILES = 2 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER, found_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t all_done = PTHREAD_COND_INITIALIZER;
static int n_active, n_files = FILES, n_found;

static void *scan(void *arg)
{
    for (;;) {
        pthread_mutex_lock(&lock);
        if (n_files == 0)
            break;
        n_files--;
        pthread_mutex_unlock(&lock);
        pthread_mutex_lock(&found_lock);
        n_found++;
        pthread_mutex_unlock(&found_lock);
    }
    n_active--;
    if (n_active == 0)
        pthread_cond_signal(&all_done);
    pthread_mutex_unlock(&lock);
    return arg;
}

int main(int argc, char **argv)
{
    int n_workers = argc > 1 ? atoi(argv[1]) : 2;
    pthread_t workers[16];
    for (int i = 0; i < n_workers; i++)
        pthread_create(&workers[i], NULL, scan, NULL);
    pthread_mutex_lock(&lock);
    n_active = n_workers;
    while (n_active > 0)
        pthread_cond_wait(&all_done, &lock);
    pthread_mutex_unlock(&lock);
    for (int i = 0; i < n_workers; i++)
        pthread_join(workers[i], NULL);
    return 0;
}
