//@ none
//@ execs: 1
// Two locks in both orders, but the second thread takes the locks only after the first has taken them for the last time.
#include <pthread.h>
#include <stdatomic.h>

static pthread_mutex_t left = PTHREAD_MUTEX_INITIALIZER, right = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int n_rounds;

static void *first(void *arg)
{
    for (int i = 0; i < 2; i++) {
        pthread_mutex_lock(&left);
        pthread_mutex_lock(&right);
        pthread_mutex_unlock(&right);
        pthread_mutex_unlock(&left);
        pthread_mutex_lock(&lock);
        n_rounds++;
        pthread_mutex_unlock(&lock);
    }
    return arg;
}

static void *second(void *arg)
{
    pthread_mutex_lock(&lock);
    int n_seen = n_rounds;
    pthread_mutex_unlock(&lock);
    if (n_seen == 2) {
        pthread_mutex_lock(&right);
        pthread_mutex_lock(&left);
        pthread_mutex_unlock(&left);
        pthread_mutex_unlock(&right);
    }
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
