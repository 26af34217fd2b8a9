//@ expect: misuse
//@ execs: 50
//@ cause: raddle_check(one_is_left, NULL); | if (atomic_load(&is_late))
//@ says: T0 T1
// A function that is explored by itself must join its threads: here one may still wait when it returns.
#include <pthread.h>
#include <raddle.h>
#include <semaphore.h>
#include <stdatomic.h>

static atomic_int is_late;
static sem_t never;

static void *work(void *arg)
{
    if (atomic_load(&is_late))
        sem_wait(&never);
    return arg;
}

static void one_is_left(void *arg)
{
    pthread_t thread;
    pthread_create(&thread, NULL, work, arg);
    pthread_detach(thread);
    atomic_store(&is_late, 1);
    atomic_store(&is_late, 0);
}

int main(void)
{
    sem_init(&never, 0, 0);
    raddle_check(one_is_left, NULL);
    return 0;
}
