//@ expect: misuse
//@ execs: 100
//@ cause: delete item;
//@ says: T1 T2
// Two threads delete the same object.
#include <pthread.h>

struct item {
    int value;
};
static struct item *item;

static void *worker(void *arg)
{
    delete item;
    return arg;
}

int main()
{
    item = new struct item();
    pthread_t a, b;
    pthread_create(&a, NULL, worker, NULL);
    pthread_create(&b, NULL, worker, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return 0;
}
