//@ expect: deadlock
//@ execs: 1000
//@ cause: pthread_mutex_lock(&ring[me]); | pthread_mutex_lock(&ring[next]);
//@ says: ring[1] ring[2] ring[0] T1 T2 T3
// Three threads, three locks, each takes its own and then its neighbour's: a cycle of length three.
#include <pthread.h>
#include <stdint.h>

static pthread_mutex_t ring[3] = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER,
                                  PTHREAD_MUTEX_INITIALIZER};
static int cell[3];

static void *shift(void *arg)
{
    int me = (int)(intptr_t)arg, next = (me + 1) % 3;
    pthread_mutex_lock(&ring[me]);
    pthread_mutex_lock(&ring[next]);
    cell[next] = cell[me] + 1;
    pthread_mutex_unlock(&ring[next]);
    pthread_mutex_unlock(&ring[me]);
    return NULL;
}

int main(void)
{
    pthread_t t[3];
    for (int i = 0; i < 3; i++)
        pthread_create(&t[i], NULL, shift, (void *)(intptr_t)i);
    for (int i = 0; i < 3; i++)
        pthread_join(t[i], NULL);
    return 0;
}
