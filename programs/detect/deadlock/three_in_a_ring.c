//@ deadlock: a b
//@ execs: 1
// Three threads, each of which locks its own lock and then the next one's: a cycle.
#include <pthread.h>

static pthread_mutex_t locks[3] = { PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER,
                                    PTHREAD_MUTEX_INITIALIZER };

static void *eat(void *arg)
{
    long me = (long)arg;
    pthread_mutex_lock(&locks[me]); //= a
    pthread_mutex_lock(&locks[(me + 1) % 3]); //= b
    pthread_mutex_unlock(&locks[(me + 1) % 3]);
    pthread_mutex_unlock(&locks[me]);
    return NULL;
}

int main(void)
{
    pthread_t threads[3];
    for (long i = 0; i < 3; i++)
        pthread_create(&threads[i], NULL, eat, (void *)i);
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], NULL);
    return 0;
}
