//@ expect: assert
//@ execs: 500
//@ cause: atomic_fetch_add(&next | ticket[me] = atomic_load(&next
//@ says: next T1 T2
// A ticket dispenser that reads the number again after adding: two visitors hold the same ticket.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>

static atomic_int next;
static int ticket[2];

static void *draw(void *arg)
{
    int me = (int)(intptr_t)arg;
    atomic_fetch_add(&next, 1);
    ticket[me] = atomic_load(&next);
    return NULL;
}

int main(void)
{
    pthread_t t[2];
    for (int i = 0; i < 2; i++)
        pthread_create(&t[i], NULL, draw, (void *)(intptr_t)i);
    for (int i = 0; i < 2; i++)
        pthread_join(t[i], NULL);
    assert(ticket[0] != ticket[1]);
    return 0;
}
