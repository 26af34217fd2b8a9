// A progress report on SIGALRM. The handler takes a lock that the interrupted thread may hold.
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int done, total = 3, reported;

static void report(int signal) {
    (void)signal;
    pthread_mutex_lock(&lock);
    reported = done * 100 / total;
    pthread_mutex_unlock(&lock);
}

static void *worker(void *arg) {
    for (int i = 0; i < total; i++) {
        pthread_mutex_lock(&lock);
        done++;
        pthread_mutex_unlock(&lock);
    }
    return arg;
}

int main(void) {
    pthread_t thread;
    signal(SIGALRM, report);
    pthread_create(&thread, NULL, worker, NULL);
    pthread_kill(thread, SIGALRM);
    pthread_join(thread, NULL);
    printf("reported %d %%\n", reported);
}
