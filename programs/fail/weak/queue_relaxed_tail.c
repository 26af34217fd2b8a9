//@ expect: assert
//@ execs: 1000
//@ memory-model: c11
//@ cause: &tail, i + 1, memory_order_relaxed | if (atomic_load_explicit(&tail
//@ says: slots T1 T2
// A queue of one producer and one consumer, with one relaxed store too many: the tail moves before the slot is filled.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

#define N 4
static atomic_int slots[N];
static atomic_uint head, tail;

static void *producer(void *arg)
{
    (void)arg;
    for (unsigned i = 0; i < 3; i++) {
        atomic_store_explicit(&slots[i % N], (int)i + 1, memory_order_relaxed);
        atomic_store_explicit(&tail, i + 1, memory_order_relaxed); // release is needed
    }
    return NULL;
}

static void *consumer(void *arg)
{
    (void)arg;
    for (unsigned i = 0; i < 3; i++) {
        if (atomic_load_explicit(&tail, memory_order_acquire) == i)
            break;
        assert(atomic_load_explicit(&slots[i % N], memory_order_relaxed) == (int)i + 1);
        atomic_store_explicit(&head, i + 1, memory_order_release);
    }
    return NULL;
}

int main(void)
{
    pthread_t p, c;
    pthread_create(&p, NULL, producer, NULL);
    pthread_create(&c, NULL, consumer, NULL);
    pthread_join(p, NULL);
    pthread_join(c, NULL);
    return 0;
}
