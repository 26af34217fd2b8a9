//@ expect: pass
//@ execs: 60
// Locks are held at forks, and no child is blocked forever: they call exec, acquire read locks that others
// hold, initialise locks again, wait with a timeout, or wait for a thread of their own.
#include <assert.h>
#include <errno.h>
#include <linux/futex.h>
#include <pthread.h>
#include <spawn.h>
#include <stdatomic.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>

extern char **environ;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_rwlock_t read_lock = PTHREAD_RWLOCK_INITIALIZER;
static pthread_rwlock_t write_lock = PTHREAD_RWLOCK_INITIALIZER;
static pthread_spinlock_t spin_lock;
static mtx_t c11_lock;
static pthread_barrier_t is_held;
static atomic_uint is_done;

static void *hold(void *arg)
{
    pthread_mutex_lock(&lock);
    pthread_rwlock_rdlock(&read_lock);
    pthread_rwlock_wrlock(&write_lock);
    pthread_spin_lock(&spin_lock);
    mtx_lock(&c11_lock);
    pthread_barrier_wait(&is_held);
    pthread_barrier_wait(&is_held);
    mtx_unlock(&c11_lock);
    pthread_spin_unlock(&spin_lock);
    pthread_rwlock_unlock(&write_lock);
    pthread_rwlock_unlock(&read_lock);
    pthread_mutex_unlock(&lock);
    return arg;
}

static void *finish(void *arg)
{
    atomic_store(&is_done, 1);
    syscall(SYS_futex, &is_done, FUTEX_WAKE_PRIVATE, 1);
    return arg;
}

static void has_ended(pid_t child)
{
    int status;
    assert(waitpid(child, &status, 0) == child && status == 0);
}

static void make_anew(void)
{
    pthread_rwlock_init(&write_lock, NULL);
    pthread_rwlock_rdlock(&write_lock);
    pthread_spin_init(&spin_lock, PTHREAD_PROCESS_PRIVATE);
    pthread_spin_lock(&spin_lock);
    mtx_init(&c11_lock, mtx_plain);
    mtx_lock(&c11_lock);
}

static int look(void)
{
    make_anew();
    struct timespec soon;
    clock_gettime(CLOCK_REALTIME, &soon);
    int result = pthread_mutex_timedlock(&lock, &soon);
    pthread_rwlock_rdlock(&read_lock);
    pthread_rwlock_unlock(&read_lock);
    pthread_t thread;
    pthread_create(&thread, NULL, finish, NULL);
    while (!atomic_load(&is_done))
        syscall(SYS_futex, &is_done, FUTEX_WAIT_PRIVATE, 0, NULL);
    pthread_join(thread, NULL);
    return result != 0 && result != ETIMEDOUT;
}

int main(void)
{
    pthread_t thread;
    pthread_barrier_init(&is_held, NULL, 2);
    pthread_spin_init(&spin_lock, PTHREAD_PROCESS_PRIVATE);
    mtx_init(&c11_lock, mtx_plain);
    pthread_create(&thread, NULL, hold, NULL);
    pthread_barrier_wait(&is_held);
    pid_t child;
    char *args[] = {"true", NULL};
    assert(posix_spawn(&child, "/bin/true", NULL, NULL, args, environ) == 0);
    has_ended(child);
    child = vfork();
    if (child == 0) {
        execv("/bin/true", args);
        _exit(1);
    }
    has_ended(child);
    child = fork();
    if (child == 0)
        _exit(look());
    has_ended(child);
    pthread_barrier_wait(&is_held);
    pthread_join(thread, NULL);
    return 0;
}
