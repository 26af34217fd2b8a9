//@ expect: pass
//@ execs: 1
// More than a million steps, in which only the item that is handed over is new: its state goes round and round.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

enum { ITEMS = 80000 };
static atomic_int is_full;
static int item;

static void *take(void *arg)
{
    for (int i = 0; i < ITEMS; i++) {
        while (!atomic_load(&is_full))
            ;
        assert(item == i);
        atomic_store(&is_full, 0);
    }
    return arg;
}

int main(void)
{
    pthread_t thread;
    pthread_create(&thread, NULL, take, NULL);
    for (int i = 0; i < ITEMS; i++) {
        while (atomic_load(&is_full))
            ;
        item = i;
        atomic_store(&is_full, 1);
    }
    pthread_join(thread, NULL);
    return 0;
}
