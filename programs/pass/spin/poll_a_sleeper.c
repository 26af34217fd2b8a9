//@ expect: pass
//@ execs: 3
// Polling under a lock for a thread that sleeps for ten seconds: virtual time passes, and the execution ends.
#include <pthread.h>
#include <unistd.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static int done;
static void *setter(void *a) { sleep(10); pthread_mutex_lock(&m); done = 1; pthread_mutex_unlock(&m); return a; }
int main(void) {
    pthread_t t;
    pthread_create(&t, 0, setter, 0);
    for (;;) {
        pthread_mutex_lock(&m);
        int is_done = done;
        pthread_mutex_unlock(&m);
        if (is_done) break;
    }
    pthread_join(t, 0);
    return 0;
}
