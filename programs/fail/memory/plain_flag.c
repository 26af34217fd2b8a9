//@ expect: assert
//@ execs: 500
//@ cause: assert(data == 99); | data = 99;
//@ says: data T1 T2
// The flag is raised before the data is written, both as plain memory.
#include <assert.h>
#include <pthread.h>

static volatile int data, flag;

static void *producer(void *arg)
{
    (void)arg;
    flag = 1; // one line too early
    data = 99;
    return NULL;
}

static void *consumer(void *arg)
{
    (void)arg;
    if (flag)
        assert(data == 99);
    return NULL;
}

int main(void)
{
    pthread_t a, b;
    pthread_create(&a, NULL, producer, NULL);
    pthread_create(&b, NULL, consumer, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return 0;
}
