//@ expect: assert
// Threads write records of what they do into a ring that somebody empties now and then. The next cell is found out
// without the lock that keeps writers of one cell apart, so two records go into one cell.
#include <assert.h>
#include <pthread.h>

enum { THREADS = 3, EACH = 3, CELLS = 16 };
struct record {
    int thread, what;
};
static struct record ring[CELLS];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int n_begun, n_written;

static void write_record(int thread, int what)
{
    int cell = n_begun;
    n_begun = cell + 1;
    pthread_mutex_lock(&lock);
    ring[cell % CELLS] = (struct record){thread, what};
    n_written++;
    pthread_mutex_unlock(&lock);
}

static void *work(void *arg)
{
    const int *thread = arg;
    for (int i = 1; i <= EACH; i++)
        write_record(*thread, i);
    return NULL;
}

int main(void)
{
    pthread_t t[THREADS];
    int ids[THREADS];
    for (int i = 0; i < THREADS; i++) {
        ids[i] = i;
        pthread_create(&t[i], NULL, work, &ids[i]);
    }
    for (int i = 0; i < THREADS; i++)
        pthread_join(t[i], NULL);
    int n_kept = 0;
    for (int i = 0; i < CELLS; i++)
        n_kept += ring[i].what != 0;
    assert(n_kept == n_written);
    return 0;
}
