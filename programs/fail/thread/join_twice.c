//@ expect: misuse
//@ execs: 500
//@ cause: if (!atomic_load(&joined)) { | atomic_store(&joined, 1);
//@ says: T1 T2
// Two reapers each test "joined" and then join the same thread.
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>

static pthread_t child;
static atomic_int joined;

static void *work(void *arg)
{
    return arg;
}

static void *reaper(void *arg)
{
    (void)arg;
    if (!atomic_load(&joined)) {
        atomic_store(&joined, 1);
        pthread_join(child, NULL);
    }
    return NULL;
}

int main(void)
{
    pthread_t a, b;
    pthread_create(&child, NULL, work, NULL);
    pthread_create(&a, NULL, reaper, NULL);
    pthread_create(&b, NULL, reaper, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return 0;
}
