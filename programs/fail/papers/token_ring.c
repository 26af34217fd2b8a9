//@ expect: assert
//@ execs: 500
//@ cause: token[seat] = token[seat - 1];
//@ says: token T1 T2
// Four threads pass a token round a ring of four cells, each under the lock; nothing makes them take turns.
#include <assert.h>
#include <pthread.h>
#include <stdint.h>

enum { SEATS = 4 };
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int token[SEATS];

static void *pass(void *arg)
{
    int seat = (int)(intptr_t)arg;
    pthread_mutex_lock(&lock);
    if (seat == 0)
        token[0] = (token[SEATS - 1] + 1) % SEATS;
    else
        token[seat] = token[seat - 1];
    pthread_mutex_unlock(&lock);
    return NULL;
}

int main(void)
{
    pthread_t t[SEATS];
    for (int i = 0; i < SEATS; i++)
        pthread_create(&t[i], NULL, pass, (void *)(intptr_t)i);
    for (int i = 0; i < SEATS; i++)
        pthread_join(t[i], NULL);
    assert(token[0] == token[1] && token[1] == token[2] && token[2] == token[3]);
    return 0;
}
