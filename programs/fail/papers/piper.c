//@ expect: assert
//@ execs: 1000
//@ cause: if (seat != 0) | assert(seat == 0); | seat = number;
//@ says: seat T2 T3
// Seats of a plane go through a pipe with room for one; who offers a seat takes it back if nobody wants it. A passenger
// who finds the pipe empty queues up at its end, and relies on its being empty still: another thread may come by in between,
// and be stopped while its seat is there. One variable, two preemptions.
#include <assert.h>
#include <pthread.h>

#ifndef PASSENGERS
#define PASSENGERS 2
#endif
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static volatile int seat;
static int n_offered, n_queued;

static void *offer_seats(void *arg)
{
    for (int number = 1; number <= PASSENGERS; number++) {
        pthread_mutex_lock(&lock);
        n_offered++;
        pthread_mutex_unlock(&lock);
        seat = number;
        seat = 0;
    }
    return arg;
}

static void *take_seat(void *arg)
{
    if (seat != 0)
        return arg;
    assert(seat == 0);
    pthread_mutex_lock(&lock);
    n_queued++;
    pthread_mutex_unlock(&lock);
    return arg;
}

int main(void)
{
    pthread_t t[PASSENGERS + 1];
    for (int i = 0; i <= PASSENGERS; i++)
        pthread_create(&t[i], NULL, i < PASSENGERS ? take_seat : offer_seats, NULL);
    for (int i = 0; i <= PASSENGERS; i++)
        pthread_join(t[i], NULL);
    return 0;
}
