//@ expect: assert
//@ execs: 1000
//@ memory-model: c11
//@ cause: &ready, 1, memory_order_release
//@ says: table T1 T2
// Double-checked initialisation whose first check is relaxed: what the flag says is done need not be visible.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static atomic_int ready, table;

static void *use(void *arg)
{
    (void)arg;
    if (!atomic_load_explicit(&ready, memory_order_relaxed)) {
        pthread_mutex_lock(&lock);
        if (!atomic_load_explicit(&ready, memory_order_relaxed)) {
            atomic_store_explicit(&table, 5, memory_order_relaxed);
            atomic_store_explicit(&ready, 1, memory_order_release);
        }
        pthread_mutex_unlock(&lock);
    }
    assert(atomic_load_explicit(&table, memory_order_relaxed) == 5);
    return NULL;
}

int main(void)
{
    pthread_t t[2];
    for (int i = 0; i < 2; i++)
        pthread_create(&t[i], NULL, use, NULL);
    for (int i = 0; i < 2; i++)
        pthread_join(t[i], NULL);
    return 0;
}
