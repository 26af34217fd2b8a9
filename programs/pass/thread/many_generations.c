//@ expect: pass
//@ execs: 50
// Threads created and joined one after the other, many more in all than live at once.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>

static atomic_int born;

static void *child(void *arg)
{
    atomic_fetch_add(&born, 1);
    return arg;
}

int main(void)
{
    for (int round = 0; round < 20; round++) {
        pthread_t t[2];
        void *back;
        for (int i = 0; i < 2; i++)
            assert(pthread_create(&t[i], NULL, child, (void *)(intptr_t)i) == 0);
        for (int i = 0; i < 2; i++) {
            pthread_join(t[i], &back);
            assert((intptr_t)back == i);
        }
    }
    assert(born == 40);
    return 0;
}
