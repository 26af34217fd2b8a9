//@ expect: assert
//@ execs: 500
//@ cause: pthread_barrier_wait(&all)
//@ says: all T1 T2
// The one whom the barrier chooses is taken for the first thread.
#include <assert.h>
#include <pthread.h>

static pthread_barrier_t all;

static void *worker(void *arg)
{
    int number = *(int *)arg;
    int is_chosen = pthread_barrier_wait(&all) == PTHREAD_BARRIER_SERIAL_THREAD;
    assert(!is_chosen || number == 1);
    return NULL;
}

int main(void)
{
    pthread_t t[2];
    int numbers[] = {0, 1};
    pthread_barrier_init(&all, NULL, 2);
    for (int i = 0; i < 2; i++)
        pthread_create(&t[i], NULL, worker, &numbers[i]);
    for (int i = 0; i < 2; i++)
        pthread_join(t[i], NULL);
    return 0;
}
