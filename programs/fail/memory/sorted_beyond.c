//@ expect: misuse
//@ execs: 200
//@ cause: count = 6;
//@ says: T1
// More elements are sorted than there are: the count was raised, the block has not grown yet.
#include <pthread.h>
#include <stdlib.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static short *values;
static size_t count = 5;

static int compare(const void *a, const void *b)
{
    return *(const short *)a - *(const short *)b;
}

static void *sorter(void *arg)
{
    pthread_mutex_lock(&lock);
    qsort(values, count, sizeof *values, compare);
    pthread_mutex_unlock(&lock);
    return arg;
}

static void *adder(void *arg)
{
    pthread_mutex_lock(&lock);
    count = 6;
    pthread_mutex_unlock(&lock);
    pthread_mutex_lock(&lock);
    values = realloc(values, count * sizeof *values);
    values[5] = 0;
    pthread_mutex_unlock(&lock);
    return arg;
}

int main(void)
{
    values = calloc(count, sizeof *values);
    pthread_t a, b;
    pthread_create(&a, NULL, sorter, NULL);
    pthread_create(&b, NULL, adder, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    free(values);
    return 0;
}
