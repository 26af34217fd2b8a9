// Two threads of so many events each after a common one, which is the second one's creation. Written are, for each event
// of the second, how many of the first came before it.
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

static atomic_ullong both; // the first thread's events, and 2³² times the second's
static unsigned *before;

static void *second(void *arg)
{
    int n_events = *(int *)arg;
    for (int j = 0; j < n_events; j++)
        before[j] = (unsigned)atomic_fetch_add(&both, 1ULL << 32);
    return NULL;
}

int main(int argc, char **argv)
{
    int n_first = argc > 1 ? atoi(argv[1]) : 4, n_second = argc > 2 ? atoi(argv[2]) : n_first;
    pthread_t thread;
    before = calloc((size_t)n_second, sizeof *before);
    pthread_create(&thread, NULL, second, &n_second);
    for (int i = 0; i < n_first; i++)
        atomic_fetch_add(&both, 1);
    pthread_join(thread, NULL);
    for (int j = 0; j < n_second; j++)
        printf("%u ", before[j]);
    return 0;
}
