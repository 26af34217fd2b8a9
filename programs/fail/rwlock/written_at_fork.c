//@ expect: misuse
//@ execs: 200
//@ cause: pthread_rwlock_wrlock(&lock); | fork();
//@ says: lock T0 T1
// A thread forks while another writes: in the child the lock can never be taken for reading.
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
static int value;

static void *change(void *arg)
{
    pthread_rwlock_wrlock(&lock);
    value = 1;
    pthread_rwlock_unlock(&lock);
    return arg;
}

int main(void)
{
    pthread_t thread;
    pthread_create(&thread, NULL, change, NULL);
    pid_t child = fork();
    if (child == 0) {
        pthread_rwlock_rdlock(&lock);
        int seen = value;
        pthread_rwlock_unlock(&lock);
        _exit(seen > 1);
    }
    waitpid(child, NULL, 0);
    pthread_join(thread, NULL);
    return 0;
}
