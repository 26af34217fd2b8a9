//@ expect: assert
//@ execs: 500
//@ cause: atomic_load(&session->state) == from | atomic_store(&session->state, to);
//@ says: state T1 T2
// A session is closed by its user and by a watchdog; the transition checks and sets its state in two steps.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

enum state { OPEN, CLOSING, CLOSED };

struct session {
    _Atomic enum state state;
    atomic_int times_closed;
};

typedef void (*on_enter)(struct session *session);

static bool transition(struct session *session, enum state from, enum state to, on_enter then)
{
    if (!(atomic_load(&session->state) == from))
        return false;
    atomic_store(&session->state, to);
    if (then)
        then(session);
    return true;
}

static void release(struct session *session)
{
    assert(atomic_fetch_add(&session->times_closed, 1) == 0);
    atomic_store(&session->state, CLOSED);
}

static struct session session;

static void *user(void *arg)
{
    transition(&session, OPEN, CLOSING, release);
    return arg;
}

static void *watchdog(void *arg)
{
    transition(&session, OPEN, CLOSING, release);
    return arg;
}

int main(void)
{
    pthread_t threads[2];
    pthread_create(&threads[0], NULL, user, NULL);
    pthread_create(&threads[1], NULL, watchdog, NULL);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    return 0;
}
