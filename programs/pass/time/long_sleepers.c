//@ expect: pass
//@ execs: 200
// Polling with sleeps: a slow worker, an impatient poller, and time that costs nothing.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <time.h>
#include <unistd.h>

static atomic_int progress;

static void *worker(void *arg)
{
    (void)arg;
    for (int i = 0; i < 3; i++) {
        usleep(1000);
        atomic_fetch_add(&progress, 1);
    }
    return NULL;
}

static void *poller(void *arg)
{
    (void)arg;
    time_t before = time(NULL);
    while (atomic_load(&progress) < 3)
        usleep(300);
    assert(time(NULL) >= before);
    return NULL;
}

int main(void)
{
    pthread_t a, b;
    pthread_create(&a, NULL, worker, NULL);
    pthread_create(&b, NULL, poller, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return 0;
}
