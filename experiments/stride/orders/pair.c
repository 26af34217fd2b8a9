// Two threads of so many events each after a common one, which is the second one's creation. Written are, for each event
// of the second, how many of the first came before it. The second's first event is its start, where it looks unseen.
//
// The second stays until the first is done: steps of a thread that is alone alive are no events, and its length would not
// be known.
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

static atomic_ullong both; // the first thread's events, and 2³² times the second's
static unsigned *before;
static sem_t is_done;

__attribute__((no_sanitize("thread"))) static unsigned look(void)
{
    return *(volatile unsigned *)&both;
}

static void *second(void *arg)
{
    int n_events = *(int *)arg;
    before[0] = look();
    for (int j = 1; j < n_events; j++)
        before[j] = (unsigned)atomic_fetch_add(&both, 1ULL << 32);
    sem_wait(&is_done);
    return NULL;
}

int main(int argc, char **argv)
{
    int n_first = argc > 1 ? atoi(argv[1]) : 4, n_second = argc > 2 ? atoi(argv[2]) : n_first;
    pthread_t thread;
    before = calloc((size_t)n_second, sizeof *before);
    sem_init(&is_done, 0, 0);
    pthread_create(&thread, NULL, second, &n_second);
    for (int i = 0; i < n_first; i++)
        atomic_fetch_add(&both, 1);
    sem_post(&is_done);
    pthread_join(thread, NULL);
    for (int j = 0; j < n_second; j++)
        printf("%u ", before[j]);
    return 0;
}
