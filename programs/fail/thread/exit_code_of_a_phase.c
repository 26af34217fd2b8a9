//@ expect: exit
//@ execs: 500
//@ cause: atomic_store(&n_done, old + 1);
//@ says: n_done T1 T2
// What the first phase lost decides the exit code, which nothing looks at after the second phase: the place of the exit is
// the last join, not the look between the phases.
#include <pthread.h>
#include <stdatomic.h>

static atomic_int n_done, n_more;

static void *finish(void *arg)
{
    int old = atomic_load(&n_done);
    atomic_store(&n_done, old + 1);
    return arg;
}

static void *go_on(void *arg)
{
    atomic_fetch_add(&n_more, 1);
    return arg;
}

static void phase(void *(*work)(void *))
{
    pthread_t threads[2];
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, work, NULL);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
}

int main(void)
{
    phase(finish);
    int is_lost = atomic_load(&n_done) != 2;
    phase(go_on);
    return is_lost;
}
