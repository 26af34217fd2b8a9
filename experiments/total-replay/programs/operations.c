// Appendices A and B: threads that write to one variable, each so often as its argument says. Their writes can be put into
// n! / (n1! n2! …) orders.
#include <pthread.h>
#include <stdlib.h>

static volatile int shared;

static void *write_often(void *arg)
{
    for (long i = 0; i < (long)arg; i++)
        shared = i;
    return NULL;
}

int main(int argc, char **argv)
{
    pthread_t threads[8];
    for (int i = 1; i < argc; i++)
        pthread_create(&threads[i], NULL, write_often, (void *)atol(argv[i]));
    for (int i = 1; i < argc; i++)
        pthread_join(threads[i], NULL);
    return 0;
}
