//@ expect: pass
//@ execs: 100
// A server on one epoll thread with two clients on socket pairs: requests of any length come in pieces,
// answers go back, an eventfd stops it. The clients write from threads of their own.
#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

enum { N_CLIENTS = 2, N_REQUESTS = 2, ROOM = 64 };

struct connection {
    int fd;
    size_t used;
    char input[ROOM];
    int n_answered;
};

struct server {
    int epoll, stop;
    struct connection connections[N_CLIENTS];
    _Atomic int n_open;
};

static void answer(struct connection *it, const char *line, size_t length)
{
    char reply[ROOM];
    int n = snprintf(reply, sizeof reply, "%zu %.*s\n", length, (int)length, line);
    for (int done = 0; done < n;) {
        ssize_t written = write(it->fd, reply + done, n - done);
        if (written < 0 && errno == EAGAIN)
            continue;
        assert(written > 0);
        done += written;
    }
    it->n_answered++;
}

/// Reads what there is; false when the client has hung up.
static int serve(struct connection *it)
{
    for (;;) {
        ssize_t n = read(it->fd, it->input + it->used, ROOM - it->used);
        if (n < 0) {
            assert(errno == EAGAIN);
            return 1;
        }
        if (n == 0)
            return 0;
        it->used += n;
        char *end;
        while ((end = memchr(it->input, '\n', it->used))) {
            size_t length = end - it->input;
            answer(it, it->input, length);
            it->used -= length + 1;
            memmove(it->input, end + 1, it->used);
        }
        assert(it->used < ROOM);
    }
}

static void *server_main(void *arg)
{
    struct server *server = arg;
    for (;;) {
        struct epoll_event events[4];
        int n = epoll_wait(server->epoll, events, 4, -1);
        if (n < 0 && errno == EINTR)
            continue;
        assert(n > 0);
        for (int i = 0; i < n; i++) {
            if (!events[i].data.ptr) {
                uint64_t count;
                assert(read(server->stop, &count, sizeof count) == sizeof count);
                assert(server->n_open == 0);
                return NULL;
            }
            struct connection *it = events[i].data.ptr;
            if (!serve(it)) {
                assert(epoll_ctl(server->epoll, EPOLL_CTL_DEL, it->fd, NULL) == 0);
                close(it->fd);
                it->fd = -1;
                server->n_open--;
            }
        }
    }
}

static void *client_main(void *arg)
{
    int fd = (int)(intptr_t)arg;
    FILE *stream = fdopen(dup(fd), "r");
    for (int i = 0; i < N_REQUESTS; i++) {
        char word[16], line[ROOM], wanted[ROOM];
        snprintf(word, sizeof word, "%s%d", i ? "a-longer-one" : "w", i);
        // In two pieces.
        assert(write(fd, word, 2) == 2);
        snprintf(line, sizeof line, "%s\n", word + 2);
        assert(write(fd, line, strlen(line)) == (ssize_t)strlen(line));
        size_t used = 0;
        while (used == 0 || line[used - 1] != '\n') {
            ssize_t n = read(fd, line + used, sizeof line - used);
            assert(n > 0);
            used += n;
        }
        line[used] = 0;
        snprintf(wanted, sizeof wanted, "%zu %s\n", strlen(word), word);
        assert(strcmp(line, wanted) == 0);
    }
    fclose(stream);
    close(fd);
    return NULL;
}

int main(void)
{
    struct server server = { .epoll = epoll_create1(EPOLL_CLOEXEC), .stop = eventfd(0, 0) };
    pthread_t clients[N_CLIENTS], thread;
    struct epoll_event event = { .events = EPOLLIN };
    assert(server.epoll >= 0 && server.stop >= 0);
    assert(epoll_ctl(server.epoll, EPOLL_CTL_ADD, server.stop, &event) == 0);
    for (int i = 0; i < N_CLIENTS; i++) {
        int ends[2];
        assert(socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0);
        assert(fcntl(ends[0], F_SETFL, O_NONBLOCK) == 0);
        server.connections[i].fd = ends[0];
        server.n_open++;
        event.data.ptr = &server.connections[i];
        assert(epoll_ctl(server.epoll, EPOLL_CTL_ADD, ends[0], &event) == 0);
        assert(pthread_create(&clients[i], NULL, client_main, (void *)(intptr_t)ends[1]) == 0);
    }
    assert(pthread_create(&thread, NULL, server_main, &server) == 0);
    for (int i = 0; i < N_CLIENTS; i++)
        pthread_join(clients[i], NULL);
    // The server sees both hang up before it is told to stop, or in the same look.
    while (server.n_open > 0)
        usleep(100);
    uint64_t one = 1;
    assert(write(server.stop, &one, sizeof one) == sizeof one);
    pthread_join(thread, NULL);
    for (int i = 0; i < N_CLIENTS; i++)
        assert(server.connections[i].n_answered == N_REQUESTS);
    return 0;
}
