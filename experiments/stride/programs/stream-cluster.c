//@ expect: assert
// Points are assigned to the nearest centre, phase by phase; each thread has a share, and a barrier of their own making
// is between phases. Who waits there does not look again when it is woken, and somebody who shows the progress wakes
// everybody: who was waiting goes on with a sum that is not whole.
#include <assert.h>
#include <pthread.h>

enum { THREADS = 3, PHASES = 2, SHARE = 2 };
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int n_arrived, n_shown, cost[PHASES];

static void barrier(int phase)
{
    pthread_mutex_lock(&lock);
    if (++n_arrived == (phase + 1) * THREADS)
        pthread_cond_broadcast(&changed);
    else
        pthread_cond_wait(&changed, &lock); // should be in a loop
    pthread_mutex_unlock(&lock);
}

static void add(int phase)
{
    for (int i = 0; i < SHARE; i++) {
        pthread_mutex_lock(&lock);
        cost[phase]++;
        pthread_mutex_unlock(&lock);
    }
}

static void *cluster(void *arg)
{
    for (int phase = 0; phase < PHASES; phase++) {
        add(phase);
        barrier(phase);
        pthread_mutex_lock(&lock);
        assert(cost[phase] == THREADS * SHARE);
        pthread_mutex_unlock(&lock);
    }
    return arg;
}

static void *show(void *arg)
{
    pthread_mutex_lock(&lock);
    n_shown = cost[PHASES - 1];
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&lock);
    return arg;
}

int main(void)
{
    pthread_t t[THREADS + 1];
    for (int i = 0; i <= THREADS; i++)
        pthread_create(&t[i], NULL, i < THREADS ? cluster : show, NULL);
    for (int i = 0; i <= THREADS; i++)
        pthread_join(t[i], NULL);
    return 0;
}
