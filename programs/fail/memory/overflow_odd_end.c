//@ expect: misuse
//@ execs: 100
//@ says: name T1
// The block's last word is only in part the block's: the terminator is one byte beyond it, if the name is long.
#include <pthread.h>
#include <stdlib.h>

static char *name;
static int is_long;

static void *writer(void *arg)
{
    int n = __atomic_load_n(&is_long, __ATOMIC_SEQ_CST) ? 13 : 12;
    name[n] = '\0';
    return arg;
}

int main(void)
{
    name = malloc(13);
    pthread_t a;
    pthread_create(&a, NULL, writer, NULL);
    __atomic_store_n(&is_long, 1, __ATOMIC_SEQ_CST);
    pthread_join(a, NULL);
    free(name);
    return 0;
}
