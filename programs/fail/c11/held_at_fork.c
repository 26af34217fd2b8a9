//@ expect: misuse
//@ execs: 200
//@ cause: mtx_lock(&lock); | fork();
//@ says: lock T0 T1
// A thread forks while another holds a C11 mutex: the child waits for it forever.
#include <sys/wait.h>
#include <threads.h>
#include <unistd.h>

static mtx_t lock;
static int value;

static int change(void *arg)
{
    mtx_lock(&lock);
    value++;
    mtx_unlock(&lock);
    return arg != NULL;
}

int main(void)
{
    thrd_t thread;
    mtx_init(&lock, mtx_plain);
    thrd_create(&thread, change, NULL);
    pid_t child = fork();
    if (child == 0) {
        mtx_lock(&lock);
        value++;
        mtx_unlock(&lock);
        _exit(0);
    }
    waitpid(child, NULL, 0);
    thrd_join(thread, NULL);
    mtx_destroy(&lock);
    return 0;
}
