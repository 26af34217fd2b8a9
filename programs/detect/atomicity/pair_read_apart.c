//@ atomicity: a b c
// Sum and count belong together; the mean is computed from an old and a new value.
#include <pthread.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int sum, count;
int mean; // what is never looked at would not be read

static void *writer(void *arg)
{
    pthread_mutex_lock(&lock);
    sum += 10; //= b
    count++;
    pthread_mutex_unlock(&lock);
    return arg;
}

static void *reader(void *arg)
{
    pthread_mutex_lock(&lock);
    int s = sum; //= a
    pthread_mutex_unlock(&lock);
    pthread_mutex_lock(&lock);
    int n = count; //= c
    pthread_mutex_unlock(&lock);
    mean = n ? s / n : 0;
    return arg;
}

int main(void)
{
    pthread_t a, b;
    pthread_create(&a, NULL, reader, NULL);
    pthread_create(&b, NULL, writer, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return 0;
}
