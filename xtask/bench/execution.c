/* A whole execution: two threads, twenty steps at most. With an argument, the floor of it: so many bare
   copies of this very process image, each of which ends at once. */
#include <pthread.h>
#include <signal.h>

#include "meter.h"

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int counter;

static void *work(void *arg) {
    for (int i = 0; i < 2; i++) {
        pthread_mutex_lock(&mutex);
        counter++;
        pthread_mutex_unlock(&mutex);
    }
    return arg;
}

static void copy_and_end(long n_copies) {
    long long start = real_ns();
    for (long i = 0; i < n_copies; i++) {
        int status;
        long child = bare_syscall(SYS_clone, SIGCHLD, 0, 0, 0);
        if (child == 0)
            bare_syscall(SYS_exit_group, 0, 0, 0, 0);
        bare_syscall(SYS_wait4, child, (long)&status, 0, 0);
    }
    tell(real_ns() - start);
}

int main(int argc, char **argv) {
    if (argc > 1)
        copy_and_end(number_arg(argc, argv, 1, 0));
    /* Also after the copies, so that the server has what it needs for a second thread. */
    pthread_t other;
    if (pthread_create(&other, NULL, work, NULL) != 0)
        return 3;
    work(NULL);
    pthread_join(other, NULL);
    return 0;
}
