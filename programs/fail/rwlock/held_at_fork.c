//@ expect: misuse
//@ execs: 200
//@ cause: pthread_rwlock_rdlock(&lock); | if (fork() == 0)
//@ says: lock T0 T1
// A thread forks while another reads: in the child the lock can never be taken for writing. The program does not wait for
// the child.
#include <pthread.h>
#include <unistd.h>

static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
static int value;

static void *look(void *arg)
{
    pthread_rwlock_rdlock(&lock);
    int seen = value;
    pthread_rwlock_unlock(&lock);
    return seen ? arg : NULL;
}

int main(void)
{
    pthread_t thread;
    pthread_create(&thread, NULL, look, NULL);
    if (fork() == 0) {
        pthread_rwlock_wrlock(&lock);
        value = 1;
        pthread_rwlock_unlock(&lock);
        _exit(0);
    }
    pthread_join(thread, NULL);
    return 0;
}
