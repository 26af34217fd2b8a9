//@ expect: misuse
//@ execs: 200
//@ cause: pthread_mutex_lock(&mutex); | fork();
//@ says: mutex T0 T1
// A thread forks while another holds a lock: in the child nobody will ever release it.
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int n_done;

static void *work(void *arg)
{
    pthread_mutex_lock(&mutex);
    n_done++;
    pthread_mutex_unlock(&mutex);
    return arg;
}

int main(void)
{
    pthread_t thread;
    pthread_create(&thread, NULL, work, NULL);
    pid_t child = fork();
    if (child == 0) {
        work(NULL);
        _exit(0);
    }
    waitpid(child, NULL, 0);
    pthread_join(thread, NULL);
    return 0;
}
