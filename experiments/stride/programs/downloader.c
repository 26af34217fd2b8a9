//@ expect: assert
// Threads fetch parts of a file and count what they have: each its own offset, then the sum of all under a lock. When
// the user interrupts it, a thread that waits for the signal writes down the offsets and the sum, to go on there another
// time. The offsets are read without the lock, while the others go on: the two do not fit.
#include <assert.h>
#include <pthread.h>
#include <signal.h>

enum { WORKERS = 3, BLOCKS = 4, BLOCK = 512 };
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int offsets[WORKERS], n_written;
static int is_finished;

static void *fetch(void *arg)
{
    int *offset = arg;
    for (int i = 0; i < BLOCKS; i++) {
        *offset += BLOCK;
        pthread_mutex_lock(&lock);
        n_written += BLOCK;
        pthread_mutex_unlock(&lock);
    }
    return NULL;
}

static void save(void)
{
    int sum = 0;
    for (int i = 0; i < WORKERS; i++)
        sum += offsets[i];
    pthread_mutex_lock(&lock);
    int n_saved = n_written;
    pthread_mutex_unlock(&lock);
    assert(n_saved <= sum); // what is said to be there is there
}

static void *wait_for_interrupt(void *arg)
{
    int signal;
    sigwait(arg, &signal);
    if (!is_finished)
        save();
    return NULL;
}

int main(void)
{
    pthread_t workers[WORKERS], handler;
    sigset_t interrupt;
    sigemptyset(&interrupt);
    sigaddset(&interrupt, SIGINT);
    pthread_sigmask(SIG_BLOCK, &interrupt, NULL);
    pthread_create(&handler, NULL, wait_for_interrupt, &interrupt);
    for (int i = 0; i < WORKERS; i++)
        pthread_create(&workers[i], NULL, fetch, &offsets[i]);
    pthread_kill(handler, SIGINT); // the user
    for (int i = 0; i < WORKERS; i++)
        pthread_join(workers[i], NULL);
    is_finished = 1;
    pthread_join(handler, NULL);
    return 0;
}
