//@ expect: misuse
//@ execs: 100
//@ cause: volatile int *it = state; | state = NULL;
//@ says: T0 T1
//@ undetected: the pointer is taken away after the free, and no detector looks at that
// A device's state is freed while another thread may still read it; it is volatile, as such things often are.
#include <pthread.h>
#include <stdlib.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int *state;
static int seen;

static void *poll_state(void *arg)
{
    pthread_mutex_lock(&lock);
    volatile int *it = state;
    if (it != NULL)
        seen = *it;
    pthread_mutex_unlock(&lock);
    return arg;
}

int main(void)
{
    pthread_t thread;
    state = calloc(1, sizeof *state);
    pthread_create(&thread, NULL, poll_state, NULL);
    free(state);
    pthread_mutex_lock(&lock);
    state = NULL;
    pthread_mutex_unlock(&lock);
    pthread_join(thread, NULL);
    return 0;
}
