//@ expect: pass
//@ execs: 100
// A C11 mutex is tried for, with a yield between the tries, until the other thread has released it.
#include <assert.h>
#include <threads.h>

static mtx_t lock;
static int count;

static int add(void *arg)
{
    (void)arg;
    for (int i = 0; i < 5; i++) {
        while (mtx_trylock(&lock) != thrd_success)
            thrd_yield();
        count++;
        mtx_unlock(&lock);
    }
    return 0;
}

int main(void)
{
    thrd_t thread;
    mtx_init(&lock, mtx_plain);
    thrd_create(&thread, add, NULL);
    add(NULL);
    thrd_join(thread, NULL);
    assert(count == 10);
    return 0;
}
