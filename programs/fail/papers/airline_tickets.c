//@ expect: assert
//@ execs: 500
//@ cause: is_full = 1; | is_stopped = is_full;
//@ says: is_full T0 T2
// The airline starts its agents one by one and stops when they say that the plane is full. It believes that the one it
// has just started has sold a ticket too many, and takes that one back; but an agent who runs at once has sold the last seat.
#include <assert.h>
#include <pthread.h>

#ifndef SEATS
#define SEATS 2
#endif
enum { AGENTS = SEATS + 2 };
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int n_sold, n_tickets, is_full;

static void *sell(void *arg)
{
    pthread_mutex_lock(&lock);
    if (!is_full) {
        n_sold++;
        n_tickets++;
        if (n_sold == SEATS)
            is_full = 1;
    }
    pthread_mutex_unlock(&lock);
    return arg;
}

int main(void)
{
    pthread_t t[AGENTS];
    int n_agents = 0, is_stopped = 0;
    while (n_agents < AGENTS && !is_stopped) {
        pthread_create(&t[n_agents++], NULL, sell, NULL);
        pthread_mutex_lock(&lock);
        is_stopped = is_full;
        if (is_stopped)
            n_sold--;
        pthread_mutex_unlock(&lock);
    }
    for (int i = 0; i < n_agents; i++)
        pthread_join(t[i], NULL);
    assert(n_sold == n_tickets);
    return 0;
}
