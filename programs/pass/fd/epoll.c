//@ expect: pass
//@ execs: 200
// An event loop: epoll over two eventfds filled by two other threads.
#include <assert.h>
#include <pthread.h>
#include <stdint.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

static int source[2];
static uint64_t sum;

static void *loop(void *arg)
{
    (void)arg;
    int ep = epoll_create1(0);
    for (int i = 0; i < 2; i++) {
        struct epoll_event want = {EPOLLIN, {.fd = source[i]}};
        assert(epoll_ctl(ep, EPOLL_CTL_ADD, source[i], &want) == 0);
    }
    while (sum < 6) {
        struct epoll_event got[2];
        int n = epoll_wait(ep, got, 2, -1);
        assert(n > 0);
        for (int i = 0; i < n; i++) {
            eventfd_t value;
            assert(eventfd_read(got[i].data.fd, &value) == 0);
            sum += value;
        }
    }
    close(ep);
    return NULL;
}

static void *feeder(void *arg)
{
    for (int i = 0; i < 3; i++)
        assert(eventfd_write(*(int *)arg, 1) == 0);
    return NULL;
}

int main(void)
{
    pthread_t t[3];
    for (int i = 0; i < 2; i++)
        source[i] = eventfd(0, 0);
    pthread_create(&t[0], NULL, loop, NULL);
    pthread_create(&t[1], NULL, feeder, &source[0]);
    pthread_create(&t[2], NULL, feeder, &source[1]);
    for (int i = 0; i < 3; i++)
        pthread_join(t[i], NULL);
    assert(sum == 6);
    return 0;
}
