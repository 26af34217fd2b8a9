// Makes an execution busy: thousands of accesses to memory that threads use in turn, after which Raddle keeps less about
// each of them. Not inlined, so that the accesses are at locations of their own.
#include <pthread.h>
#include <semaphore.h>
#include <stddef.h>

static sem_t is_over;
static int turns;

static void *wait_for_end(void *arg)
{
    sem_wait(&is_over);
    return arg;
}

static void *take_turn(void *arg)
{
    turns++;
    return arg;
}

static __attribute__((noinline)) void be_busy(void)
{
    pthread_t watcher, other;
    sem_init(&is_over, 0, 0);
    pthread_create(&watcher, NULL, wait_for_end, NULL);
    pthread_create(&other, NULL, take_turn, NULL);
    pthread_join(other, NULL);
    for (int i = 0; i < 3000; i++)
        take_turn(NULL);
    sem_post(&is_over);
    pthread_join(watcher, NULL);
}
