//@ expect: pass
//@ execs: 100
// Handlers of pthread_atfork that hold a lock over the fork, so that the child finds consistent data; the
// lock is busy in another thread.
#include <assert.h>
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int one, two, n_prepared, n_parent, n_child;

static void prepare(void)
{
    pthread_mutex_lock(&lock);
    n_prepared++;
}

static void parent(void)
{
    n_parent++;
    pthread_mutex_unlock(&lock);
}

static void child(void)
{
    n_child++;
    pthread_mutex_unlock(&lock);
}

static void *work(void *arg)
{
    for (int i = 0; i < 3; i++) {
        pthread_mutex_lock(&lock);
        one++;
        two++;
        pthread_mutex_unlock(&lock);
    }
    return arg;
}

int main(void)
{
    pthread_t thread;
    assert(pthread_atfork(prepare, parent, child) == 0);
    pthread_create(&thread, NULL, work, NULL);
    pid_t process = fork();
    if (process == 0) {
        pthread_mutex_lock(&lock);
        int is_whole = one == two && n_child == 1 && n_parent == 0;
        pthread_mutex_unlock(&lock);
        _exit(is_whole ? 0 : 1);
    }
    int status = -1;
    assert(waitpid(process, &status, 0) == process);
    assert(status == 0);
    pthread_join(thread, NULL);
    assert(n_prepared == 1 && n_parent == 1 && n_child == 0);
    return 0;
}
