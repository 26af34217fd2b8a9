//@ expect: deadlock
//@ execs: 2000
//@ cause: pthread_mutex_lock(left); | pthread_mutex_lock(right);
//@ says: fork_ T1 T2 T3 T4
// Four philosophers all reach for the left fork first.
#include <pthread.h>
#include <stdint.h>

#ifndef SEATS
#define SEATS 4
#endif
static pthread_mutex_t fork_[SEATS];
static int meals[SEATS];

static void *dine(void *arg)
{
    int seat = (int)(intptr_t)arg;
    pthread_mutex_t *left = &fork_[seat], *right = &fork_[(seat + 1) % SEATS];
    pthread_mutex_lock(left);
    pthread_mutex_lock(right);
    meals[seat]++;
    pthread_mutex_unlock(right);
    pthread_mutex_unlock(left);
    return NULL;
}

int main(void)
{
    pthread_t t[SEATS];
    for (int i = 0; i < SEATS; i++)
        pthread_mutex_init(&fork_[i], NULL);
    for (int i = 0; i < SEATS; i++)
        pthread_create(&t[i], NULL, dine, (void *)(intptr_t)i);
    for (int i = 0; i < SEATS; i++)
        pthread_join(t[i], NULL);
    for (int i = 0; i < SEATS; i++)
        pthread_mutex_destroy(&fork_[i]);
    return 0;
}
