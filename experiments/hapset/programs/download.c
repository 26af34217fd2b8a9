// A download manager: workers fetch parts of a file and add up what they have written, and one thread shows
// the progress. The sum has no lock.
// Bug: race on the sum (an update is lost). Argument: workers.
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>

enum { PARTS = 2, SIZE = 10 };

static pthread_mutex_t file_lock = PTHREAD_MUTEX_INITIALIZER;
static int n_chunks;
static volatile int n_written, n_shown;

static void *fetch(void *arg)
{
    for (int i = 0; i < PARTS; i++) {
        pthread_mutex_lock(&file_lock);
        n_chunks++;
        pthread_mutex_unlock(&file_lock);
        n_written += SIZE;
    }
    return arg;
}

static void *show(void *arg)
{
    for (int i = 0; i < 3; i++)
        n_shown = n_written;
    return arg;
}

int main(int argc, char **argv)
{
    int n_workers = argc > 1 ? atoi(argv[1]) : 2;
    pthread_t workers[16], progress;
    pthread_create(&progress, NULL, show, NULL);
    for (int i = 0; i < n_workers; i++)
        pthread_create(&workers[i], NULL, fetch, NULL);
    for (int i = 0; i < n_workers; i++)
        pthread_join(workers[i], NULL);
    pthread_join(progress, NULL);
    assert(n_chunks == n_workers * PARTS);
    assert(n_written == n_workers * PARTS * SIZE);
    return 0;
}
