// A download manager: `main` has the address resolved and the file cut into segments, workers fetch one segment each,
// part by part, and add up what they have written, and one thread shows the progress. The sum has no lock.
// Bug: race on the sum (an update is lost). Argument: workers.
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>

enum { PARTS = 3, SIZE = 10, SHOWN = 3 };

static pthread_mutex_t file_lock = PTHREAD_MUTEX_INITIALIZER, socket_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t screen_lock = PTHREAD_MUTEX_INITIALIZER;
static int n_chunks, n_open, n_lines;
static volatile int n_written;

static void connect_to(int how)
{
    pthread_mutex_lock(&socket_lock);
    n_open += how;
    pthread_mutex_unlock(&socket_lock);
}

static void write_part(void)
{
    pthread_mutex_lock(&file_lock);
    n_chunks++;
    pthread_mutex_unlock(&file_lock);
}

static void show_line(void)
{
    pthread_mutex_lock(&screen_lock);
    n_lines++;
    pthread_mutex_unlock(&screen_lock);
}

static void *fetch(void *arg)
{
    connect_to(1);
    for (int i = 0; i < PARTS; i++) {
        n_written += SIZE;
        write_part();
    }
    show_line();
    connect_to(-1);
    return arg;
}

static void *show(void *arg)
{
    for (int i = 0; i < SHOWN && n_written >= 0; i++)
        show_line();
    return arg;
}

int main(int argc, char **argv)
{
    int n_workers = argc > 1 ? atoi(argv[1]) : 2;
    pthread_t workers[16], progress;
    for (int i = 0; i < n_workers; i++)
        pthread_create(&workers[i], NULL, fetch, NULL);
    pthread_create(&progress, NULL, show, NULL);
    for (int i = 0; i < n_workers; i++)
        pthread_join(workers[i], NULL);
    pthread_join(progress, NULL);
    assert(n_chunks == n_workers * PARTS && n_open == 0);
    assert(n_written == n_workers * PARTS * SIZE);
    return 0;
}
