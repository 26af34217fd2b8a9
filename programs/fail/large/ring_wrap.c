//@ expect: assert
//@ execs: 6000
//@ unnamed: ring->slots[at].text = text; | atomic_store(&ring->n_read, position + 1);
//@ says: n_drawn T3 T4
// A ring of log records for several writers. A writer asks for room by the reader's position before it draws its own: if
// others draw in between, it writes over a record that has not been read.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

enum { SLOTS = 4, WRITERS = 3, RECORDS = 3 };

struct slot {
    atomic_uint sequence; // position + 1 of the record that is here
    int text;
};

struct ring {
    struct slot slots[SLOTS];
    atomic_uint n_drawn, n_read;
};

static struct ring ring;
static atomic_int n_dropped, n_written;
static struct {
    pthread_mutex_t lock;
    int n_lines, last;
} console = {.lock = PTHREAD_MUTEX_INITIALIZER};

static bool has_room(struct ring *ring)
{
    unsigned drawn = atomic_load(&ring->n_drawn);
    return drawn - atomic_load(&ring->n_read) < SLOTS - 1;
}

static bool append(struct ring *ring, int text)
{
    if (!has_room(ring)) {
        atomic_fetch_add(&n_dropped, 1);
        return false;
    }
    unsigned position = atomic_fetch_add(&ring->n_drawn, 1);
    unsigned at = position % SLOTS;
    assert(position - atomic_load(&ring->n_read) < SLOTS);
    ring->slots[at].text = text;
    atomic_store(&ring->slots[at].sequence, position + 1);
    atomic_fetch_add(&n_written, 1);
    return true;
}

static bool take(struct ring *ring, int *text)
{
    unsigned position = atomic_load(&ring->n_read);
    struct slot *slot = &ring->slots[position % SLOTS];
    if (atomic_load(&slot->sequence) != position + 1)
        return false;
    *text = slot->text;
    atomic_store(&ring->n_read, position + 1);
    return true;
}

static void show(int text)
{
    pthread_mutex_lock(&console.lock);
    console.n_lines++;
    console.last = text;
    pthread_mutex_unlock(&console.lock);
}

static void *writer(void *arg)
{
    int me = *(int *)arg;
    for (int i = 0; i < RECORDS; i++)
        if (!append(&ring, me * 100 + i))
            show(-1);
    return NULL;
}

static void *reader(void *arg)
{
    int text;
    for (int i = 0; i < WRITERS * RECORDS; i++)
        if (take(&ring, &text))
            show(text);
    return arg;
}

int main(void)
{
    pthread_t threads[WRITERS + 1];
    int numbers[WRITERS];
    pthread_create(&threads[WRITERS], NULL, reader, NULL);
    for (int i = 0; i < WRITERS; i++) {
        numbers[i] = i;
        pthread_create(&threads[i], NULL, writer, &numbers[i]);
    }
    for (int i = 0; i <= WRITERS; i++)
        pthread_join(threads[i], NULL);
    return 0;
}
