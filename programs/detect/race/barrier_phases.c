//@ none
// Phases separated by a barrier.
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

static pthread_barrier_t phase;
static int cells[2];

static void *first(void *arg)
{
    cells[0] = 1;
    pthread_barrier_wait(&phase);
    cells[0] += cells[1];
    return arg;
}

static void *second(void *arg)
{
    cells[1] = 2;
    pthread_barrier_wait(&phase);
    return arg;
}

int main(void)
{
    pthread_t a, b;
    pthread_barrier_init(&phase, NULL, 2);
    pthread_create(&a, NULL, first, NULL);
    pthread_create(&b, NULL, second, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return 0;
}
