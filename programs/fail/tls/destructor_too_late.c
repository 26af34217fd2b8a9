//@ expect: assert
//@ execs: 500
//@ cause: assert(atomic_load(&total) == 8); | atomic_fetch_add(&total
//@ says: done total T0 T1
// A worker says "done" before its key destructor has flushed what it counted.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>

static pthread_key_t key;
static atomic_int total, done;

static void flush(void *counted)
{
    atomic_fetch_add(&total, (int)(intptr_t)counted);
}

static void *worker(void *arg)
{
    pthread_setspecific(key, arg);
    atomic_store(&done, 1);
    return NULL; // flush() runs after this
}

int main(void)
{
    pthread_t t;
    pthread_key_create(&key, flush);
    pthread_create(&t, NULL, worker, (void *)(intptr_t)8);
    if (atomic_load(&done))
        assert(atomic_load(&total) == 8);
    pthread_join(t, NULL);
    return 0;
}
