//@ expect: abort
//@ execs: 500
//@ cause: struct buffer *b = atomic_load(&current); | atomic_store(&current, NULL);
//@ says: current T1 T2
// Two threads both find the buffer and both release it; the allocator's guard calls abort().
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

static struct buffer {
    atomic_int live;
} pool = {1};
static _Atomic(struct buffer *) current = &pool;

static void release(struct buffer *b)
{
    if (atomic_exchange(&b->live, 0) == 0)
        abort(); // double free
}

static void *closer(void *arg)
{
    (void)arg;
    struct buffer *b = atomic_load(&current);
    if (b) {
        release(b);
        atomic_store(&current, NULL);
    }
    return NULL;
}

int main(void)
{
    pthread_t a, b;
    pthread_create(&a, NULL, closer, NULL);
    pthread_create(&b, NULL, closer, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return 0;
}
