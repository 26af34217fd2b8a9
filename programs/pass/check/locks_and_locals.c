//@ expect: pass
//@ execs: 300
// Executions begin with a function again and again: thread-locals are new in each thread, and what main has
// made before (a lock, a semaphore, memory) is as it was.
#include <assert.h>
#include <pthread.h>
#include <raddle.h>
#include <semaphore.h>
#include <stdlib.h>

static pthread_mutex_t lock;
static sem_t places;
static pthread_key_t key;
static _Thread_local int n_mine = 7;
static int total;

static void *work(void *arg)
{
    assert(n_mine == 7 && pthread_getspecific(key) == NULL);
    for (int i = 0; i < 3; i++) {
        sem_wait(&places);
        pthread_mutex_lock(&lock);
        pthread_mutex_lock(&lock);
        total++;
        n_mine++;
        pthread_mutex_unlock(&lock);
        pthread_mutex_unlock(&lock);
        sem_post(&places);
    }
    pthread_setspecific(key, malloc(16));
    return arg;
}

static void three_work(void *arg)
{
    pthread_t threads[3];
    int *extra = malloc(sizeof *extra);
    *extra = 0;
    total = 0;
    assert(n_mine == 8);
    n_mine++;
    for (int i = 0; i < 3; i++)
        pthread_create(&threads[i], NULL, work, arg);
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], NULL);
    assert(total + *extra == 9);
    free(extra);
}

int main(void)
{
    pthread_mutexattr_t attr;
    pthread_mutexattr_init(&attr);
    pthread_mutexattr_settype(&attr, PTHREAD_MUTEX_RECURSIVE);
    pthread_mutex_init(&lock, &attr);
    sem_init(&places, 0, 2);
    pthread_key_create(&key, free);
    n_mine++;
    raddle_check(three_work, NULL);
    return 0;
}
