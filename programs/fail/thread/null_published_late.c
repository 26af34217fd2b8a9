//@ expect: crash
//@ execs: 500
//@ cause: seen = atomic_load(&session)->id; | atomic_store(&session, &first);
//@ says: session T0 T1
// The worker is started before the pointer it needs is published: a null pointer is followed.
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>

struct session {
    int id;
};
static struct session first = {3};
static _Atomic(struct session *) session;
static int seen;

static void *worker(void *arg)
{
    (void)arg;
    seen = atomic_load(&session)->id;
    return NULL;
}

int main(void)
{
    pthread_t t;
    pthread_create(&t, NULL, worker, NULL);
    atomic_store(&session, &first);
    pthread_join(t, NULL);
    return seen == 3 ? 0 : 1;
}
