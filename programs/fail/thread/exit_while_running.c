//@ expect: abort
//@ execs: 500
//@ cause: atomic_store(&journal_open, 1); | if (atomic_load(&journal_open)) | atomic_store(&journal_open, 0);
//@ says: journal_open T0 T1
// main leaves while a worker still runs; the atexit handler finds the journal open.
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

static atomic_int journal_open;

static void *worker(void *arg)
{
    (void)arg;
    atomic_store(&journal_open, 1);
    atomic_store(&journal_open, 0);
    return NULL;
}

static void check_journal(void)
{
    if (atomic_load(&journal_open))
        abort();
}

int main(void)
{
    pthread_t t;
    atexit(check_journal);
    pthread_create(&t, NULL, worker, NULL);
    pthread_detach(t);
    return 0;
}
