//@ expect: assert
//@ execs: 500
//@ cause: data++;
//@ says: data T1 T2
// One thread guards the data with its lock; N others guard it with another one.
#include <assert.h>
#include <pthread.h>

#ifndef N
#define N 3
#endif
static pthread_mutex_t data_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t thread_lock = PTHREAD_MUTEX_INITIALIZER;
static volatile int data; // read each time

static void *right(void *arg)
{
    pthread_mutex_lock(&data_lock);
    int before = data;
    data++;
    assert(data == before + 1);
    pthread_mutex_unlock(&data_lock);
    return arg;
}

static void *wrong(void *arg)
{
    pthread_mutex_lock(&thread_lock);
    data++;
    pthread_mutex_unlock(&thread_lock);
    return arg;
}

int main(void)
{
    pthread_t t[N + 1];
    for (int i = 0; i <= N; i++)
        pthread_create(&t[i], NULL, i == 0 ? right : wrong, NULL);
    for (int i = 0; i <= N; i++)
        pthread_join(t[i], NULL);
    return 0;
}
