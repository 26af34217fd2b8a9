//@ expect: pass
//@ execs: 100
// A thread that waits since before goes on because of the function: executions begin with main.
#include <pthread.h>
#include <raddle.h>
#include <semaphore.h>

static sem_t asked, answered;

static void *serve(void *arg)
{
    for (;;) {
        sem_wait(&asked);
        sem_post(&answered);
    }
    return arg;
}

static void *ask(void *arg)
{
    sem_post(&asked);
    sem_wait(&answered);
    return arg;
}

static void two_ask(void *arg)
{
    pthread_t threads[2];
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, ask, arg);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
}

int main(void)
{
    pthread_t server;
    sem_init(&asked, 0, 0);
    sem_init(&answered, 0, 0);
    pthread_create(&server, NULL, serve, NULL);
    sem_post(&asked);
    sem_wait(&answered);
    raddle_check(two_ask, NULL);
    return 0;
}
