//@ expect: misuse
//@ execs: 100
//@ says: flags T1
// An atomic beyond the end of its block.
#include <pthread.h>
#include <stdlib.h>

static int *flags;
static int last;

static void *setter(void *arg)
{
    __atomic_store_n(&flags[__atomic_load_n(&last, __ATOMIC_SEQ_CST)], 1, __ATOMIC_SEQ_CST);
    return arg;
}

int main(void)
{
    flags = calloc(5, sizeof *flags);
    pthread_t a;
    pthread_create(&a, NULL, setter, NULL);
    __atomic_store_n(&last, 5, __ATOMIC_SEQ_CST);
    pthread_join(a, NULL);
    free(flags);
    return 0;
}
