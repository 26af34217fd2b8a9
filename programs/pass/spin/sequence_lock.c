//@ expect: pass
//@ execs: 100
// A reader of a sequence lock tries again while a writer is at it.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

static atomic_uint sequence;
static atomic_int first, second;

static void *write_both(void *arg)
{
    for (int i = 1; i <= 5; i++) {
        atomic_fetch_add(&sequence, 1);
        atomic_store(&first, i);
        atomic_store(&second, i);
        atomic_fetch_add(&sequence, 1);
    }
    return arg;
}

int main(void)
{
    pthread_t thread;
    pthread_create(&thread, NULL, write_both, NULL);
    for (int seen = 0; seen < 5;) {
        unsigned before;
        int one, two;
        do {
            while ((before = atomic_load(&sequence)) & 1)
                ;
            one = atomic_load(&first);
            two = atomic_load(&second);
        } while (atomic_load(&sequence) != before);
        assert(one == two);
        seen = one;
    }
    pthread_join(thread, NULL);
    return 0;
}
