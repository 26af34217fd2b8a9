// A progress report on SIGALRM. The handler only uses atomic variables without locks.
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <unistd.h>

static const int total = 3;
static atomic_int done, reported;

static void report(int signal) {
    (void)signal;
    reported = done * 100 / total;
}

static void *worker(void *arg) {
    for (int i = 0; i < total; i++)
        done++;
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
