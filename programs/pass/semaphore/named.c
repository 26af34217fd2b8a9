//@ expect: pass
//@ execs: 200
// A named semaphore hands a baton to and fro; a second open gives the same one.
#define _GNU_SOURCE
#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

static sem_t *go, *back;
static int baton;

static void *other(void *arg)
{
    for (int i = 0; i < 3; i++) {
        sem_wait(go);
        baton++;
        sem_post(back);
    }
    return arg;
}

int main(void)
{
    char name[2][40];
    for (int i = 0; i < 2; i++)
        snprintf(name[i], sizeof name[i], "/raddle-named-%d-%d", (int)getpid(), i);
    go = sem_open(name[0], O_CREAT | O_EXCL, 0600, 0);
    back = sem_open(name[1], O_CREAT | O_EXCL, 0600, 1);
    assert(go != SEM_FAILED && back != SEM_FAILED);
    sem_t *again = sem_open(name[1], 0);
    assert(again == back && sem_close(again) == 0);
    for (int i = 0; i < 2; i++)
        assert(sem_unlink(name[i]) == 0);
    assert(sem_open(name[0], 0) == SEM_FAILED && errno == ENOENT);
    pthread_t thread;
    pthread_create(&thread, NULL, other, NULL);
    for (int i = 0; i < 3; i++) {
        sem_wait(back);
        assert(baton == i);
        sem_post(go);
    }
    pthread_join(thread, NULL);
    int value;
    assert(sem_getvalue(back, &value) == 0 && value == 1 && baton == 3);
    assert(sem_trywait(go) == -1 && errno == EAGAIN);
    struct timespec past = {0, 0}, bad = {0, -1};
    assert(sem_timedwait(go, &past) == -1 && errno == ETIMEDOUT);
    assert(sem_timedwait(go, &bad) == -1 && errno == EINVAL);
    assert(sem_timedwait(back, &past) == 0);
    assert(sem_close(go) == 0 && sem_close(back) == 0);
    return 0;
}
