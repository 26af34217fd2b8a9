//@ expect: pass
//@ execs: 200
// A test-and-set lock made of atomic_flag protects a plain structure copied with memcpy and memset.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <string.h>

static atomic_flag held = ATOMIC_FLAG_INIT;
static unsigned char page[32];

static void *scribe(void *arg)
{
    unsigned char copy[sizeof page];
    for (int i = 0; i < 2; i++) {
        while (atomic_flag_test_and_set_explicit(&held, memory_order_acquire))
            ;
        memcpy(copy, page, sizeof page);
        memset(page, (int)(intptr_t)arg, sizeof page);
        atomic_flag_clear_explicit(&held, memory_order_release);
        for (unsigned k = 1; k < sizeof copy; k++)
            assert(copy[k] == copy[0]);
    }
    return NULL;
}

int main(void)
{
    pthread_t t[3];
    for (int i = 0; i < 3; i++)
        pthread_create(&t[i], NULL, scribe, (void *)(intptr_t)(i + 1));
    for (int i = 0; i < 3; i++)
        pthread_join(t[i], NULL);
    return 0;
}
