//@ expect: assert
//@ execs: 500
//@ cause: atomic_store(&current, c); | struct config *c = atomic_load(&current); | atomic_store(&c->port, 8080); | assert(atomic_load(&config_get()->port) == 8080);
//@ says: current store.port T1 T2
// Double-checked locking that publishes the pointer before the object is filled in.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

struct config {
    atomic_int port;
};
static struct config store;
static _Atomic(struct config *) current;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static struct config *config_get(void)
{
    struct config *c = atomic_load(&current);
    if (!c) {
        pthread_mutex_lock(&lock);
        c = atomic_load(&current);
        if (!c) {
            c = &store;
            atomic_store(&current, c); // too early
            atomic_store(&c->port, 8080);
        }
        pthread_mutex_unlock(&lock);
    }
    return c;
}

static void *client(void *arg)
{
    (void)arg;
    assert(atomic_load(&config_get()->port) == 8080);
    return NULL;
}

int main(void)
{
    pthread_t a, b;
    pthread_create(&a, NULL, client, NULL);
    pthread_create(&b, NULL, client, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return 0;
}
