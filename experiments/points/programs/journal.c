/* Writers append records to a journal under its lock, and another thread writes it out: it takes the length in
   one section, the records in a second, and clears the journal in a third. What came in between is lost. */
#include <assert.h>
#include <pthread.h>
#include <string.h>

enum { N_WRITERS = 2, N_RECORDS = 3, SIZE = 12, ROOM = 8 };
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static char records[ROOM][SIZE], written[N_WRITERS * N_RECORDS][SIZE];
static int n_records, n_written, n_finished;

static void append(char what)
{
    pthread_mutex_lock(&lock);
    for (int i = 0; i < SIZE; i++)
        records[n_records][i] = what;
    n_records++;
    pthread_mutex_unlock(&lock);
}

static void *write_records(void *arg)
{
    for (int i = 0; i < N_RECORDS; i++)
        append((char)('a' + (long)arg));
    pthread_mutex_lock(&lock);
    n_finished++;
    pthread_mutex_unlock(&lock);
    return NULL;
}

static int flush(void)
{
    pthread_mutex_lock(&lock);
    int n = n_records, is_over = n_finished == N_WRITERS;
    pthread_mutex_unlock(&lock);
    if (n > 0) {
        pthread_mutex_lock(&lock);
        for (int i = 0; i < n; i++)
            for (int k = 0; k < SIZE; k++)
                written[n_written + i][k] = records[i][k];
        n_written += n;
        pthread_mutex_unlock(&lock);
        pthread_mutex_lock(&lock);
        n_records = 0;
        pthread_mutex_unlock(&lock);
    }
    return is_over;
}

static void *flush_all(void *arg)
{
    /* The last records may have come after the first look. */
    for (int i = 0; i < 2; i++)
        flush();
    return arg;
}

int main(void)
{
    pthread_t writers[N_WRITERS], flusher;
    for (long i = 0; i < N_WRITERS; i++)
        pthread_create(&writers[i], NULL, write_records, (void *)i);
    pthread_create(&flusher, NULL, flush_all, NULL);
    for (int i = 0; i < N_WRITERS; i++)
        pthread_join(writers[i], NULL);
    pthread_join(flusher, NULL);
    flush();
    assert(n_written == N_WRITERS * N_RECORDS);
    return 0;
}
