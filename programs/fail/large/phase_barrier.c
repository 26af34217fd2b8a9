//@ expect: assert
//@ execs: 4000
//@ cause: int n = ++barrier->n_arrived; | barrier->n_arrived = 0;
//@ undetected: all sections are correctly locked; only their order is wrong
//@ says: barrier.n_arrived T1 T3
// A grid that is computed in phases. The barrier by hand is opened (the phase counted on) before it is made ready for the
// next phase: a thread that hurries on arrives, and its arrival is wiped out.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>

enum { WORKERS = 3, PHASES = 3, ROWS = 6, COLUMNS = 2 };

struct barrier {
    pthread_mutex_t lock;
    pthread_cond_t opened;
    int n_arrived;
    int phase;
};

static struct barrier barrier = {.lock = PTHREAD_MUTEX_INITIALIZER, .opened = PTHREAD_COND_INITIALIZER};
static struct {
    pthread_mutex_t lock;
    int cells[COLUMNS];
} rows[ROWS];
static atomic_int n_done[PHASES];

static int arrive(struct barrier *barrier)
{
    pthread_mutex_lock(&barrier->lock);
    int n = ++barrier->n_arrived;
    pthread_mutex_unlock(&barrier->lock);
    return n;
}

static void open_next(struct barrier *barrier)
{
    pthread_mutex_lock(&barrier->lock);
    barrier->phase++;
    pthread_cond_broadcast(&barrier->opened);
#ifndef FIXED
    pthread_mutex_unlock(&barrier->lock);
    // The last one makes it ready for those who come next.
    pthread_mutex_lock(&barrier->lock);
#endif
    barrier->n_arrived = 0;
    pthread_mutex_unlock(&barrier->lock);
}

static void await_phase(struct barrier *barrier, int phase)
{
    pthread_mutex_lock(&barrier->lock);
    while (barrier->phase <= phase)
        pthread_cond_wait(&barrier->opened, &barrier->lock);
    pthread_mutex_unlock(&barrier->lock);
}

static void pass(struct barrier *barrier, int phase)
{
    int n = arrive(barrier);
    // Nobody arrives twice in a phase, and nobody is forgotten.
    assert(n <= WORKERS);
    if (n == WORKERS)
        open_next(barrier);
    else
        await_phase(barrier, phase);
}

static void smooth(int row, int phase)
{
    int above = row ? row - 1 : row, sum = 0;
    pthread_mutex_lock(&rows[above].lock);
    for (int i = 0; i < COLUMNS; i++)
        sum += rows[above].cells[i];
    pthread_mutex_unlock(&rows[above].lock);
    pthread_mutex_lock(&rows[row].lock);
    for (int i = 0; i < COLUMNS; i++)
        rows[row].cells[i] = (rows[row].cells[i] + sum + phase) % 97;
    pthread_mutex_unlock(&rows[row].lock);
}

static void *work(void *arg)
{
    int me = *(int *)arg;
    for (int phase = 0; phase < PHASES; phase++) {
        // The first has less to do than the others.
        for (int row = me; row < (me ? ROWS : 1); row += WORKERS)
            smooth(row, phase);
        atomic_fetch_add(&n_done[phase], 1);
        pass(&barrier, phase);
        assert(atomic_load(&n_done[phase]) == WORKERS);
    }
    return NULL;
}

int main(void)
{
    pthread_t threads[WORKERS];
    int numbers[WORKERS];
    for (int i = 0; i < ROWS; i++)
        pthread_mutex_init(&rows[i].lock, NULL);
    for (int i = 0; i < WORKERS; i++) {
        numbers[i] = i;
        pthread_create(&threads[i], NULL, work, &numbers[i]);
    }
    for (int i = 0; i < WORKERS; i++)
        pthread_join(threads[i], NULL);
    return 0;
}
