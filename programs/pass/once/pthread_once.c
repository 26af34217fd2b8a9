//@ expect: pass
//@ execs: 200
// pthread_once: the routine runs once, and no thread continues before it has returned.
#include <assert.h>
#include <pthread.h>

static pthread_once_t once = PTHREAD_ONCE_INIT;
static int calls, value;

static void init(void)
{
    calls++;
    value = 9;
}

static void *user(void *arg)
{
    (void)arg;
    for (int i = 0; i < 2; i++) {
        assert(pthread_once(&once, init) == 0);
        assert(value == 9);
    }
    return NULL;
}

int main(void)
{
    pthread_t t[3];
    for (int i = 0; i < 3; i++)
        pthread_create(&t[i], NULL, user, NULL);
    for (int i = 0; i < 3; i++)
        pthread_join(t[i], NULL);
    assert(calls == 1);
    return 0;
}
