//@ expect: pass
//@ execs: 200
// pthread keys: each thread has its own value; the destructor runs once for each that set one.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>

static pthread_key_t key;
static atomic_int destroyed;

static void destroy(void *value)
{
    atomic_fetch_add(&destroyed, (int)(intptr_t)value);
}

static void *worker(void *arg)
{
    assert(pthread_getspecific(key) == NULL);
    if (arg) {
        pthread_setspecific(key, arg);
        atomic_load(&destroyed); // let others run in between
        assert(pthread_getspecific(key) == arg);
    }
    return NULL;
}

int main(void)
{
    pthread_t t[3];
    pthread_key_create(&key, destroy);
    for (int i = 0; i < 3; i++)
        pthread_create(&t[i], NULL, worker, (void *)(intptr_t)(i * 10));
    for (int i = 0; i < 3; i++)
        pthread_join(t[i], NULL);
    assert(destroyed == 30); // the zero had nothing to destroy
    return pthread_key_delete(key);
}
