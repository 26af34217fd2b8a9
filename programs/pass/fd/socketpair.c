//@ expect: pass
//@ execs: 200
// Request and reply over a socketpair, ended with shutdown.
#include <assert.h>
#include <pthread.h>
#include <sys/socket.h>
#include <unistd.h>

static int ends[2];

static void *server(void *arg)
{
    (void)arg;
    char c;
    while (recv(ends[1], &c, 1, 0) == 1) {
        c++;
        assert(send(ends[1], &c, 1, 0) == 1);
    }
    return NULL;
}

static void *client(void *arg)
{
    (void)arg;
    for (char c = 'a'; c < 'd'; c++) {
        char got;
        assert(send(ends[0], &c, 1, 0) == 1);
        assert(recv(ends[0], &got, 1, 0) == 1 && got == c + 1);
    }
    shutdown(ends[0], SHUT_WR);
    return NULL;
}

int main(void)
{
    pthread_t a, b;
    assert(socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0);
    pthread_create(&a, NULL, server, NULL);
    pthread_create(&b, NULL, client, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    close(ends[0]);
    close(ends[1]);
    return 0;
}
