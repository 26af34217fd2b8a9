//@ expect: assert
//@ execs: 500
//@ cause: if (is_full) | is_full = 1;
// Agents sell tickets until somebody says that the plane is full; the flag is looked at before the sale and
// set after it.
#include <assert.h>
#include <pthread.h>

#ifndef SEATS
#define SEATS 3
#endif
enum { AGENTS = SEATS + 1 };
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int n_sold, is_full;

static void *sell(void *arg)
{
    if (is_full)
        return arg;
    pthread_mutex_lock(&lock);
    n_sold++;
    pthread_mutex_unlock(&lock);
    if (n_sold >= SEATS)
        is_full = 1;
    return arg;
}

int main(void)
{
    pthread_t t[AGENTS];
    for (int i = 0; i < AGENTS; i++)
        pthread_create(&t[i], NULL, sell, NULL);
    for (int i = 0; i < AGENTS; i++)
        pthread_join(t[i], NULL);
    assert(n_sold <= SEATS);
    return 0;
}
