//@ none
// Memory that was another thread's, freed and allocated again.
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static long sum;

static void use(int n)
{
    for (int i = 0; i < 3; i++) {
        int *block = malloc(64);
        block[0] = n;
        block[5] = i;
        pthread_mutex_lock(&lock);
        sum += block[0] + block[5];
        pthread_mutex_unlock(&lock);
        free(block);
    }
}

static void *first(void *arg)
{
    use(1);
    return arg;
}

static void *second(void *arg)
{
    use(2);
    return arg;
}

int main(void)
{
    pthread_t a, b;
    pthread_create(&a, NULL, first, NULL);
    pthread_create(&b, NULL, second, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return 0;
}
