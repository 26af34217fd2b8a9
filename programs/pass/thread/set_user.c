//@ expect: pass
//@ execs: 50
// Changing the user while there are threads: the C library makes every one of them change it.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

static _Atomic int n_seen;

static void *run(void *arg)
{
    for (int i = 0; i < 2; i++) {
        assert(getuid() == geteuid());
        n_seen++;
    }
    return arg;
}

int main(void)
{
    pthread_t threads[2];
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, run, NULL);
    assert(setgid(getgid()) == 0);
    assert(setuid(getuid()) == 0);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    assert(setuid(getuid()) == 0);
    assert(n_seen == 4);
    return 0;
}
