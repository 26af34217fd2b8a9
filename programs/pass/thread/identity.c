//@ expect: pass
//@ execs: 200
// pthread_self, pthread_equal, gettid and thread names are each thread's own.
#define _GNU_SOURCE
#include <assert.h>
#include <pthread.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

static pthread_t self[2];
static pid_t tid[2];

static void *child(void *arg)
{
    int me = (int)(intptr_t)arg;
    char name[16], want[16] = "worker-0";
    want[7] = (char)('0' + me);
    pthread_setname_np(pthread_self(), want);
    self[me] = pthread_self();
    tid[me] = gettid();
    assert(pthread_getname_np(pthread_self(), name, sizeof name) == 0);
    assert(strcmp(name, want) == 0);
    assert(gettid() == tid[me] && pthread_equal(pthread_self(), self[me]));
    return NULL;
}

int main(void)
{
    pthread_t t[2];
    for (int i = 0; i < 2; i++)
        pthread_create(&t[i], NULL, child, (void *)(intptr_t)i);
    for (int i = 0; i < 2; i++)
        pthread_join(t[i], NULL);
    assert(pthread_equal(self[0], t[0]) && pthread_equal(self[1], t[1]));
    assert(tid[0] != gettid() && tid[1] != gettid());
    assert(gettid() == getpid());
    return 0;
}
