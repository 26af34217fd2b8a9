// A download manager: `main` starts a thread that draws the progress bar, then workers that fetch one segment each, part
// by part. Workers add up what they have written under a lock. The progress thread reads the sum without it, once for
// the full part of the bar and once more for the empty part.
// Bug: race on the sum (a worker writes between the two reads). Argument: workers.
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>

enum { PARTS = 3, SHOWN = 3 };

static pthread_mutex_t file_lock = PTHREAD_MUTEX_INITIALIZER, written_lock = PTHREAD_MUTEX_INITIALIZER;
static int n_chunks, width;
static volatile int n_written;

static void write_part(void)
{
    pthread_mutex_lock(&file_lock);
    n_chunks++;
    pthread_mutex_unlock(&file_lock);
}

static void *fetch(void *arg)
{
    for (int i = 0; i < PARTS; i++) {
        write_part();
        pthread_mutex_lock(&written_lock);
        n_written++;
        pthread_mutex_unlock(&written_lock);
    }
    return arg;
}

static void *show(void *arg)
{
    for (int i = 0; i < SHOWN; i++) {
        int full = n_written;
        int empty = width - n_written;
        assert(full + empty == width);
    }
    return arg;
}

int main(int argc, char **argv)
{
    int n_workers = argc > 1 ? atoi(argv[1]) : 2;
    pthread_t workers[16], progress;
    width = n_workers * PARTS;
    pthread_create(&progress, NULL, show, NULL);
    for (int i = 0; i < n_workers; i++)
        pthread_create(&workers[i], NULL, fetch, NULL);
    for (int i = 0; i < n_workers; i++)
        pthread_join(workers[i], NULL);
    pthread_join(progress, NULL);
    assert(n_chunks == width && n_written == width);
    return 0;
}
