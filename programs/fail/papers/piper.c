//@ expect: assert
//@ execs: 1000
//@ cause: n_in_pipe--; | pthread_cond_wait(&has_seat, &lock);
// Seats of a plane go through a pipe with room for one. A passenger who was woken does not look again
// whether the seat is still there: another one may have come by who did not have to wait.
#include <assert.h>
#include <pthread.h>

#ifndef PASSENGERS
#define PASSENGERS 2
#endif
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t has_seat = PTHREAD_COND_INITIALIZER, has_room = PTHREAD_COND_INITIALIZER;
static int n_in_pipe;

static void *offer_seats(void *arg)
{
    for (int i = 0; i < PASSENGERS; i++) {
        pthread_mutex_lock(&lock);
        while (n_in_pipe == 1)
            pthread_cond_wait(&has_room, &lock);
        n_in_pipe++;
        pthread_cond_signal(&has_seat);
        pthread_mutex_unlock(&lock);
    }
    return arg;
}

static void *take_seat(void *arg)
{
    pthread_mutex_lock(&lock);
    if (n_in_pipe == 0) // should be `while`
        pthread_cond_wait(&has_seat, &lock);
    n_in_pipe--;
    assert(n_in_pipe >= 0);
    pthread_cond_signal(&has_room);
    pthread_mutex_unlock(&lock);
    return arg;
}

int main(void)
{
    pthread_t t[PASSENGERS + 1];
    for (int i = 0; i <= PASSENGERS; i++)
        pthread_create(&t[i], NULL, i == 0 ? offer_seats : take_seat, NULL);
    for (int i = 0; i <= PASSENGERS; i++)
        pthread_join(t[i], NULL);
    return 0;
}
