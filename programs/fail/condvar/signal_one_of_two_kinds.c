//@ expect: deadlock
//@ execs: 1000
//@ cause: pthread_cond_signal(&changed); | pthread_cond_wait(&changed, &lock);
//@ says: changed T1 T3 T4
// Two kinds of waiters share a condition and are woken with signal: the wrong one may eat the wake-up.
#include <pthread.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int red, blue;

static void *want(void *arg)
{
    int *colour = arg;
    pthread_mutex_lock(&lock);
    while (*colour == 0)
        pthread_cond_wait(&changed, &lock);
    --*colour;
    pthread_mutex_unlock(&lock);
    return NULL;
}

static void *give(void *arg)
{
    int *colour = arg;
    pthread_mutex_lock(&lock);
    ++*colour;
    pthread_cond_signal(&changed); // should be broadcast
    pthread_mutex_unlock(&lock);
    return NULL;
}

int main(void)
{
    pthread_t t[4];
    pthread_create(&t[0], NULL, want, &red);
    pthread_create(&t[1], NULL, give, &red);
    pthread_create(&t[2], NULL, want, &blue);
    pthread_create(&t[3], NULL, give, &blue);
    for (int i = 0; i < 4; i++)
        pthread_join(t[i], NULL);
    return 0;
}
