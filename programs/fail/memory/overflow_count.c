//@ expect: misuse
//@ execs: 200
//@ cause: int has_room = count < N; | slots[count++] = value;
//@ says: slots T1
// Two threads look whether there is room before either takes it: the second writes beyond the block.
#include <pthread.h>
#include <stdlib.h>

#define N 3

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int *slots;
static int count = N - 1;

static void add(int value)
{
    pthread_mutex_lock(&lock);
    int has_room = count < N;
    pthread_mutex_unlock(&lock);
    if (!has_room)
        return;
    pthread_mutex_lock(&lock);
    slots[count++] = value;
    pthread_mutex_unlock(&lock);
}

static void *worker(void *arg)
{
    add(1);
    return arg;
}

int main(void)
{
    slots = malloc(N * sizeof *slots);
    pthread_t a, b;
    pthread_create(&a, NULL, worker, NULL);
    pthread_create(&b, NULL, worker, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    free(slots);
    return 0;
}
