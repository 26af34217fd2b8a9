//@ expect: pass
//@ execs: 200
// Three threads add to a counter under one mutex: no increment is lost.
#include <assert.h>
#include <pthread.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int hits;

static void *adder(void *arg)
{
    (void)arg;
    for (int i = 0; i < 4; i++) {
        pthread_mutex_lock(&lock);
        int seen = hits;
        hits = seen + 1;
        pthread_mutex_unlock(&lock);
    }
    return NULL;
}

int main(void)
{
    pthread_t t[3];
    for (int i = 0; i < 3; i++)
        pthread_create(&t[i], NULL, adder, NULL);
    for (int i = 0; i < 3; i++)
        pthread_join(t[i], NULL);
    assert(hits == 12);
    return 0;
}
