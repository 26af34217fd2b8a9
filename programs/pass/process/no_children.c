//@ expect: pass
//@ execs: 100
// There are no children: every wait for one returns immediately with ECHILD.
#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <sys/wait.h>

static void *reap(void *arg)
{
    siginfo_t info;
    int status;

    (void)arg;
    assert(waitpid(-1, &status, WNOHANG) == -1 && errno == ECHILD);
    assert(waitpid(-1, &status, 0) == -1 && errno == ECHILD);
    assert(waitpid(0, &status, 0) == -1 && errno == ECHILD);
    assert(wait(&status) == -1 && errno == ECHILD);
    assert(waitid(P_ALL, 0, &info, WEXITED) == -1 && errno == ECHILD);
    return 0;
}

int main(void)
{
    pthread_t threads[2];

    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], 0, reap, 0);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], 0);
    return 0;
}
