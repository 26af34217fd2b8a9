//@ expect: assert
//@ execs: 1000
//@ cause: int has_room = n_sent - n_received < SIZE; | n_sent++;
//@ says: n_sent T2 T3
//@ flags: -DSIZE=3
// A ring of SIZE cells under a lock, one receiver, two senders. A sender asks for room in one critical
// section and sends in the next: when the ring is nearly full, both believe that the last cell is theirs.
#include <assert.h>
#include <pthread.h>
#include <sched.h>

#ifndef SIZE
#define SIZE 4
#endif
enum { EACH = SIZE };
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int cells[SIZE], n_sent, n_received;

static int has_room(void)
{
    pthread_mutex_lock(&lock);
    int has_room = n_sent - n_received < SIZE;
    pthread_mutex_unlock(&lock);
    return has_room;
}

static void *send_all(void *arg)
{
    for (int i = 0; i < EACH; i++) {
        while (!has_room())
            sched_yield();
        pthread_mutex_lock(&lock);
        cells[n_sent % SIZE] = n_sent;
        n_sent++;
        pthread_mutex_unlock(&lock);
    }
    return arg;
}

static void *receive_all(void *arg)
{
    while (n_received < 2 * EACH) {
        pthread_mutex_lock(&lock);
        if (n_received < n_sent) {
            assert(cells[n_received % SIZE] == n_received);
            n_received++;
        }
        pthread_mutex_unlock(&lock);
        sched_yield();
    }
    return arg;
}

int main(void)
{
    pthread_t t[3];
    for (int i = 0; i < 3; i++)
        pthread_create(&t[i], NULL, i == 0 ? receive_all : send_all, NULL);
    for (int i = 0; i < 3; i++)
        pthread_join(t[i], NULL);
    return 0;
}
