//@ expect: assert
//@ execs: 500
//@ cause: int mine = atomic_load((atomic_int *)arg); | atomic_store(&number, mine + 1);
//@ says: number T1 T2
// Every thread gets the address of one variable, which moves on to the next number while they start.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

static atomic_int number, seen[3];

static void *child(void *arg)
{
    int mine = atomic_load((atomic_int *)arg);
    atomic_fetch_add(&seen[mine], 1);
    atomic_store(&number, mine + 1);
    return NULL;
}

int main(void)
{
    pthread_t t[2];
    for (int i = 0; i < 2; i++)
        pthread_create(&t[i], NULL, child, &number);
    for (int i = 0; i < 2; i++)
        pthread_join(t[i], NULL);
    assert(seen[0] == 1 && seen[1] == 1);
    return 0;
}
