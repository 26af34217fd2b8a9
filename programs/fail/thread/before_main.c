//@ expect: assert
//@ execs: 200
//@ cause: n_done++; | int seen = n_done;
//@ says: n_done T0 T1
// A constructor starts a thread before `main`: it is controlled from its beginning.
#include <assert.h>
#include <pthread.h>

static pthread_t early;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int n_done;

static int look(void)
{
    pthread_mutex_lock(&mutex);
    int seen = n_done;
    pthread_mutex_unlock(&mutex);
    return seen;
}

static void *work(void *arg)
{
    for (int i = 0; i < 3; i++) {
        pthread_mutex_lock(&mutex);
        n_done++;
        pthread_mutex_unlock(&mutex);
    }
    return arg;
}

__attribute__((constructor)) static void begin(void)
{
    pthread_create(&early, NULL, work, NULL);
    int seen = look();
    assert(seen == look());
}

int main(void)
{
    pthread_join(early, NULL);
    return 0;
}
