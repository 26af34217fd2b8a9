//@ expect: pass
//@ execs: 50
// A thread made with a stack size of its own has at least that much, and can use it.
#define _GNU_SOURCE
#include <assert.h>
#include <pthread.h>
#include <string.h>

enum { WANTED = 1 << 20 };

static void *deep(void *arg)
{
    pthread_attr_t attr;
    void *base;
    size_t size;
    char here[WANTED / 4];
    assert(pthread_getattr_np(pthread_self(), &attr) == 0);
    assert(pthread_attr_getstack(&attr, &base, &size) == 0);
    pthread_attr_destroy(&attr);
    assert(size >= WANTED);
    assert(&here[0] > (char *)base && &here[0] < (char *)base + size);
    memset(here, *(int *)arg, sizeof here);
    return (void *)(size_t)here[sizeof here - 1];
}

int main(void)
{
    pthread_attr_t attr;
    pthread_t t[2];
    int fill = 7;
    void *last;
    pthread_attr_init(&attr);
    assert(pthread_attr_setstacksize(&attr, WANTED) == 0);
    for (int i = 0; i < 2; i++)
        assert(pthread_create(&t[i], &attr, deep, &fill) == 0);
    pthread_attr_destroy(&attr);
    for (int i = 0; i < 2; i++) {
        pthread_join(t[i], &last);
        assert((size_t)last == 7);
    }
    return 0;
}
