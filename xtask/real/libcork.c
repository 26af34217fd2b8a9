// Two threads of the library's that initialise a value once, have one of their own each, and count atomically.
#include <assert.h>
#include <libcork/core.h>
#include <libcork/threads.h>

#define N 3
static volatile int n_done;
static int value;
cork_once_barrier(first);
cork_tls(int, own);

static int work(void *arg) {
    cork_once(first, value = 42);
    assert(value == 42);
    for (int i = 0; i < N; i++) {
        *own_get() += 1;
        cork_int_atomic_add(&n_done, 1);
    }
    assert(*own_get() == N && cork_current_thread_get_id() != CORK_THREAD_NONE);
    return 0;
}

int main(void) {
    struct cork_thread *threads[2];
    for (int i = 0; i < 2; i++) threads[i] = cork_thread_new("worker", NULL, NULL, work);
    for (int i = 0; i < 2; i++) assert(cork_thread_start(threads[i]) == 0);
    for (int i = 0; i < 2; i++) assert(cork_thread_join(threads[i]) == 0);
    assert(n_done == 2 * N && *own_get() == 0);
    return 0;
}
