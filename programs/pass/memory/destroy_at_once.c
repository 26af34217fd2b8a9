//@ expect: pass
//@ execs: 200
// What POSIX allows a thread to destroy and free immediately: a condition variable whose waiters were all woken,
// a barrier that others are still leaving, a mutex and a semaphore that were just released.
#include <assert.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdlib.h>

struct gate {
    pthread_mutex_t *lock;
    pthread_cond_t *opened;
    pthread_barrier_t *barrier;
    sem_t *sem;
    int n_inside, is_open;
};

static void *wait_at(void *arg)
{
    struct gate *gate = arg;
    pthread_mutex_lock(gate->lock);
    gate->n_inside++;
    while (!gate->is_open)
        pthread_cond_wait(gate->opened, gate->lock);
    gate->n_inside--;
    pthread_mutex_unlock(gate->lock);
    if (pthread_barrier_wait(gate->barrier) == PTHREAD_BARRIER_SERIAL_THREAD) {
        assert(pthread_barrier_destroy(gate->barrier) == 0);
        free(gate->barrier);
    }
    sem_post(gate->sem);
    return NULL;
}

int main(void)
{
    struct gate gate = { malloc(sizeof(pthread_mutex_t)), malloc(sizeof(pthread_cond_t)),
                         malloc(sizeof(pthread_barrier_t)), malloc(sizeof(sem_t)), 0, 0 };
    pthread_t threads[2];
    pthread_mutex_init(gate.lock, NULL);
    pthread_cond_init(gate.opened, NULL);
    pthread_barrier_init(gate.barrier, NULL, 3);
    sem_init(gate.sem, 0, 0);
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, wait_at, &gate);
    for (;;) {
        pthread_mutex_lock(gate.lock);
        if (gate.n_inside == 2)
            break;
        pthread_mutex_unlock(gate.lock);
        sched_yield();
    }
    gate.is_open = 1;
    pthread_cond_broadcast(gate.opened);
    pthread_mutex_unlock(gate.lock);
    assert(pthread_cond_destroy(gate.opened) == 0);
    free(gate.opened);
    if (pthread_barrier_wait(gate.barrier) == PTHREAD_BARRIER_SERIAL_THREAD) {
        assert(pthread_barrier_destroy(gate.barrier) == 0);
        free(gate.barrier);
    }
    sem_wait(gate.sem);
    sem_wait(gate.sem);
    assert(sem_destroy(gate.sem) == 0);
    free(gate.sem);
    assert(pthread_mutex_destroy(gate.lock) == 0);
    free(gate.lock);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    return 0;
}
