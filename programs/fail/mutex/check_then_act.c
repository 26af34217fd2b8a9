//@ expect: assert
//@ execs: 500
//@ cause: int n = stock; | stock--;
//@ says: stock T1 T2
// Atomicity violation on one variable: the stock is checked and taken in two critical sections.
#include <assert.h>
#include <pthread.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int stock = 1;

static int in_stock(void)
{
    pthread_mutex_lock(&lock);
    int n = stock;
    pthread_mutex_unlock(&lock);
    return n > 0;
}

static void *buyer(void *arg)
{
    (void)arg;
    if (in_stock()) {
        pthread_mutex_lock(&lock);
        stock--;
        assert(stock >= 0);
        pthread_mutex_unlock(&lock);
    }
    return NULL;
}

int main(void)
{
    pthread_t t[2];
    for (int i = 0; i < 2; i++)
        pthread_create(&t[i], NULL, buyer, NULL);
    for (int i = 0; i < 2; i++)
        pthread_join(t[i], NULL);
    return 0;
}
