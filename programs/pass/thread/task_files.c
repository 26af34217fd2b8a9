//@ expect: pass
//@ execs: 100
// Lists of threads, however they are made, have the numbers that threads know themselves by; and files about a thread have
// its number and its name.
#define _GNU_SOURCE
#include <assert.h>
#include <dirent.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

static pthread_barrier_t all;
static pid_t ids[3];

static void *inherit(void *arg)
{
    char name[16];
    assert(pthread_getname_np(pthread_self(), name, sizeof name) == 0);
    assert(strcmp(name, "worker") == 0);
    return arg;
}

static void *work(void *arg)
{
    ids[(long)arg] = gettid();
    pthread_setname_np(pthread_self(), "worker");
    pthread_barrier_wait(&all);
    pthread_barrier_wait(&all);
    pthread_t thread;
    pthread_create(&thread, NULL, inherit, NULL);
    pthread_join(thread, NULL);
    return NULL;
}

static int is_worker(int folder, const char *path)
{
    char name[20] = "";
    int fd = openat(folder, path, O_RDONLY);
    assert(fd >= 0);
    assert(read(fd, name, sizeof name - 1) > 0);
    close(fd);
    return strcmp(name, "worker\n") == 0;
}

// One entry of a list: the bit of its thread.
static int look(const char *name)
{
    char path[64], line[256];
    pid_t id = atoi(name);
    int idx = 0, number = 0;
    if (name[0] == '.')
        return 0;
    while (idx < 3 && ids[idx] != id)
        idx++;
    assert(idx < 3);
    cpu_set_t set;
    assert(sched_getaffinity(id, sizeof set, &set) == 0);
    assert(sched_setaffinity(id, sizeof set, &set) == 0);
    assert(syscall(SYS_tgkill, getpid(), id, 0) == 0);
    assert(setpriority(PRIO_PROCESS, id, getpriority(PRIO_PROCESS, id)) == 0);
    snprintf(path, sizeof path, "/proc/self/task/%d/comm", id);
    assert(is_worker(AT_FDCWD, path) == (idx > 0));
    snprintf(path, sizeof path, "/proc/%d/task/%d/stat", getpid(), id);
    FILE *file = fopen(path, "r");
    assert(file && fscanf(file, "%d (%[^)])", &number, line) == 2 && number == id);
    assert((strcmp(line, "worker") == 0) == (idx > 0));
    assert(line[0] != 0);
    fclose(file);
    snprintf(path, sizeof path, "/proc/self/task/%d/status", id);
    file = fopen(path, "r");
    number = 0;
    while (file && fgets(line, sizeof line, file))
        sscanf(line, "Pid: %d", &number);
    assert(number == id);
    fclose(file);
    return 1 << idx;
}

int main(void)
{
    pthread_t threads[2];
    pthread_barrier_init(&all, NULL, 3);
    ids[0] = gettid();
    for (long i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, work, (void *)(i + 1));
    pthread_barrier_wait(&all);

    int seen = 0, n_workers = 0;
    int own = open("/proc/self", O_RDONLY | O_DIRECTORY);
    DIR *tasks = fdopendir(openat(own, "task", O_RDONLY | O_DIRECTORY));
    assert(tasks);
    for (struct dirent *it; (it = readdir(tasks));) {
        char path[300];
        seen |= look(it->d_name);
        snprintf(path, sizeof path, "%s/comm", it->d_name);
        n_workers += it->d_name[0] != '.' && is_worker(dirfd(tasks), path);
    }
    closedir(tasks);
    close(own);
    assert(seen == 7 && n_workers == 2);

    struct dirent **list;
    int n_entries = scandir("/proc/self/task", &list, NULL, alphasort);
    assert(n_entries == 5);
    seen = 0;
    for (int i = 0; i < n_entries; i++) {
        seen |= look(list[i]->d_name);
        free(list[i]);
    }
    free(list);
    assert(seen == 7);

    pthread_barrier_wait(&all);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    return 0;
}
