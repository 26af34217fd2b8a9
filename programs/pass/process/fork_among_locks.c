//@ expect: pass
//@ execs: 100
// Forks while other threads hold locks, and the child locks none of them: it uses trylock, or initialises a new one.
#include <assert.h>
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t own = PTHREAD_MUTEX_INITIALIZER;
static int n_done;

static void *work(void *arg)
{
    pthread_mutex_lock(&mutex);
    n_done++;
    pthread_mutex_unlock(&mutex);
    return arg;
}

static void child(void)
{
    pthread_mutex_lock(&own);
    pthread_mutex_unlock(&own);
    pthread_mutex_init(&mutex, NULL);
    work(NULL);
    _exit(n_done > 0 ? 0 : 1);
}

int main(void)
{
    pthread_t thread;
    int status;
    pthread_create(&thread, NULL, work, NULL);
    pid_t id = fork();
    if (id == 0)
        child();
    assert(waitpid(id, &status, 0) == id && status == 0);
    pthread_join(thread, NULL);
    assert(n_done == 1);
    return 0;
}
