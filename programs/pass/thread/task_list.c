//@ expect: pass
//@ execs: 100
// The kernel's list of threads has the number that each thread knows itself by.
#define _GNU_SOURCE
#include <assert.h>
#include <dirent.h>
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

static pthread_barrier_t all;

static int is_listed(pid_t id)
{
    int found = 0;
    DIR *tasks = opendir("/proc/self/task");
    assert(tasks);
    for (struct dirent *it; (it = readdir(tasks));)
        found |= atoi(it->d_name) == id;
    closedir(tasks);
    return found;
}

static void *work(void *arg)
{
    pthread_barrier_wait(&all);
    assert(is_listed(gettid()));
    pthread_barrier_wait(&all);
    return arg;
}

int main(void)
{
    pthread_t threads[2];
    pthread_barrier_init(&all, NULL, 3);
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, work, NULL);
    pthread_barrier_wait(&all);
    assert(is_listed(gettid()));
    assert(gettid() == getpid());
    pthread_barrier_wait(&all);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    return 0;
}
