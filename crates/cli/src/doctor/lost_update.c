/* A bug that must be found: two threads add to one variable without a lock. */
#include <assert.h>
#include <pthread.h>

static int counter;

static void *add(void *unused)
{
    int seen = counter;
    counter = seen + 1;
    return unused;
}

int main(void)
{
    pthread_t first, second;
    pthread_create(&first, NULL, add, NULL);
    pthread_create(&second, NULL, add, NULL);
    pthread_join(first, NULL);
    pthread_join(second, NULL);
    assert(counter == 2);
    return 0;
}
