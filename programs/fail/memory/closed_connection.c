//@ expect: misuse
//@ execs: 200
//@ cause: connections[0] = NULL; | struct connection *it = connections[0];
//@ says: T2 T1
//@ undetected: the connection is looked up under the lock and used after it, and no detector looks at that
#include <pthread.h>
#include <stdlib.h>

struct connection {
    int fd;
    int n_requests;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct connection *connections[1];

static void *closer(void *arg)
{
    pthread_mutex_lock(&lock);
    struct connection *it = connections[0];
    connections[0] = NULL;
    pthread_mutex_unlock(&lock);
    free(it);
    return arg;
}

static void *handler(void *arg)
{
    pthread_mutex_lock(&lock);
    struct connection *it = connections[0];
    pthread_mutex_unlock(&lock);
    if (it)
        it->n_requests++;
    return arg;
}

int main(void)
{
    connections[0] = calloc(1, sizeof **connections);
    pthread_t a, b;
    pthread_create(&a, NULL, closer, NULL);
    pthread_create(&b, NULL, handler, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return 0;
}
