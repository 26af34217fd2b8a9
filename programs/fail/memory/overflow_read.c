//@ expect: misuse
//@ execs: 200
//@ cause: n_items++; | items = realloc(
//@ says: items T1
// The count is raised before the block has grown: a reader in between reads beyond it.
#include <pthread.h>
#include <stdlib.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static long *items;
static int n_items = 3;
static long sum;

static void *reader(void *arg)
{
    pthread_mutex_lock(&lock);
    for (int i = 0; i < n_items; i++)
        sum += items[i];
    pthread_mutex_unlock(&lock);
    return arg;
}

static void *grower(void *arg)
{
    pthread_mutex_lock(&lock);
    n_items++;
    pthread_mutex_unlock(&lock);
    pthread_mutex_lock(&lock);
    items = realloc(items, n_items * sizeof *items);
    items[n_items - 1] = 1;
    pthread_mutex_unlock(&lock);
    return arg;
}

int main(void)
{
    items = calloc(n_items, sizeof *items);
    pthread_t a, b;
    pthread_create(&a, NULL, reader, NULL);
    pthread_create(&b, NULL, grower, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    free(items);
    return 0;
}
