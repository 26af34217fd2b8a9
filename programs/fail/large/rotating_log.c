//@ expect: assert
//@ execs: 4000
//@ unnamed: atomic_load(&file->n_written) < LIMIT | atomic_store(&file->is_closed, true);
//@ says: is_closed T1 T3
// A log that begins a new file when one is full. Writers draw a place in the current file without a lock, and only one of
// them rotates; who has looked at the file before and at its size after a rotation writes into one that is closed.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

enum { FILES = 3, LIMIT = 6, WRITERS = 3, LINES = 3, ROOM = LIMIT + WRITERS };

struct file {
    atomic_int n_written;
    atomic_bool is_closed;
    int lines[ROOM];
};

static struct file files[FILES];
static _Atomic(struct file *) current = &files[0];
static pthread_mutex_t rotation = PTHREAD_MUTEX_INITIALIZER;
static atomic_int n_rotations, n_lost;
static struct {
    pthread_mutex_t lock;
    int n_formatted, n_bytes;
} formatter = {.lock = PTHREAD_MUTEX_INITIALIZER};

static int format(int writer, int line)
{
    pthread_mutex_lock(&formatter.lock);
    formatter.n_formatted++;
    formatter.n_bytes += 20 + line;
    pthread_mutex_unlock(&formatter.lock);
    return writer * 100 + line;
}

static void rotate(struct file *full)
{
    pthread_mutex_lock(&rotation);
    if (atomic_load(&current) == full && full + 1 < files + FILES) {
        atomic_store(&current, full + 1);
        atomic_fetch_add(&n_rotations, 1);
        atomic_store(&full->is_closed, true);
    }
    pthread_mutex_unlock(&rotation);
}

static bool append(int text)
{
    struct file *file = atomic_load(&current);
    if (!(atomic_load(&file->n_written) < LIMIT)) {
        rotate(file);
        return false;
    }
    int at = atomic_fetch_add(&file->n_written, 1);
    assert(!atomic_load(&file->is_closed));
    file->lines[at] = text;
    return true;
}

static void *writer(void *arg)
{
    int me = *(int *)arg;
    for (int line = 0; line < LINES; line++) {
        int text = format(me, line), attempts = 0;
        while (!append(text))
            if (++attempts == 3) {
                atomic_fetch_add(&n_lost, 1);
                break;
            }
    }
    return NULL;
}

static void *shipper(void *arg)
{
    for (int i = 0; i < FILES; i++) {
        if (!atomic_load(&files[i].is_closed))
            break;
        pthread_mutex_lock(&formatter.lock);
        formatter.n_bytes -= files[i].lines[0] % 20;
        pthread_mutex_unlock(&formatter.lock);
    }
    return arg;
}

int main(void)
{
    pthread_t threads[WRITERS + 1];
    int numbers[WRITERS];
    for (int i = 0; i < WRITERS; i++) {
        numbers[i] = i;
        pthread_create(&threads[i], NULL, writer, &numbers[i]);
    }
    pthread_create(&threads[WRITERS], NULL, shipper, NULL);
    for (int i = 0; i <= WRITERS; i++)
        pthread_join(threads[i], NULL);
    return 0;
}
