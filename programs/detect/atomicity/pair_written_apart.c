//@ atomicity: a b c
// The name and its length are set in one critical section in one function, in two in another.
#include <pthread.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static char name;
static int length;
int seen; // what is never looked at would not be read

static void *clear(void *arg)
{
    pthread_mutex_lock(&lock);
    name = 0;
    length = 0;
    pthread_mutex_unlock(&lock);
    return arg;
}

static void *rename_it(void *arg)
{
    pthread_mutex_lock(&lock);
    name = 'x'; //= a
    pthread_mutex_unlock(&lock);
    pthread_mutex_lock(&lock);
    length = 1; //= c
    pthread_mutex_unlock(&lock);
    return arg;
}

static void *reader(void *arg)
{
    pthread_mutex_lock(&lock);
    seen = name + length; //= b
    pthread_mutex_unlock(&lock);
    return arg;
}

int main(void)
{
    pthread_t a, b, c;
    pthread_create(&a, NULL, clear, NULL);
    pthread_create(&b, NULL, rename_it, NULL);
    pthread_create(&c, NULL, reader, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    pthread_join(c, NULL);
    return 0;
}
