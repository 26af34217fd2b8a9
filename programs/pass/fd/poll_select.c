//@ expect: pass
//@ execs: 200
// One thread polls two pipes (with a timeout that may strike), another selects on a third.
#include <assert.h>
#include <poll.h>
#include <pthread.h>
#include <stdint.h>
#include <sys/select.h>
#include <unistd.h>

static int ends[3][2];

static void *sender(void *arg)
{
    assert(write(ends[(intptr_t)arg][1], "x", 1) == 1);
    return NULL;
}

static void *selector(void *arg)
{
    char c;
    fd_set set;
    FD_ZERO(&set);
    FD_SET(ends[2][0], &set);
    assert(select(ends[2][0] + 1, &set, NULL, NULL, NULL) == 1);
    assert(FD_ISSET(ends[2][0], &set) && read(ends[2][0], &c, 1) == 1);
    return arg;
}

int main(void)
{
    pthread_t t[4];
    for (int i = 0; i < 3; i++)
        assert(pipe(ends[i]) == 0);
    for (intptr_t i = 0; i < 3; i++)
        pthread_create(&t[i], NULL, sender, (void *)i);
    pthread_create(&t[3], NULL, selector, NULL);
    struct pollfd fds[2] = {{ends[0][0], POLLIN, 0}, {ends[1][0], POLLIN, 0}};
    for (int got = 0; got < 2;) {
        char c;
        assert(poll(fds, 2, got ? -1 : 20) >= 0);
        for (int i = 0; i < 2; i++)
            if (fds[i].revents & POLLIN) {
                assert(read(fds[i].fd, &c, 1) == 1);
                got++;
            }
    }
    for (int i = 0; i < 4; i++)
        pthread_join(t[i], NULL);
    return 0;
}
