// Two clients of a tinyproxy that runs in this process (its `main` is called `tinyproxy_main`); SIGTERM at the end.
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <assert.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

int tinyproxy_main(int argc, char **argv);

static atomic_int n_done;
static int port;

static void *client(void *arg) {
    struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons(port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    const char *request = "GET http://tinyproxy.stats/ HTTP/1.0\r\nHost: tinyproxy.stats\r\n\r\n";
    for (int i = 0; i < 2; i++) {
        int fd = socket(AF_INET, SOCK_STREAM, 0);
        while (connect(fd, (struct sockaddr *)&to, sizeof to)) {
            close(fd);
            usleep(1000);
            fd = socket(AF_INET, SOCK_STREAM, 0);
        }
        assert(write(fd, request, strlen(request)) == (ssize_t)strlen(request));
        char text[4096];
        size_t n = 0;
        for (ssize_t k; n < sizeof text && (k = read(fd, text + n, sizeof text - n)) > 0;) n += k;
        assert(n > 12 && memcmp(text, "HTTP/1.0 200", 12) == 0);
        close(fd);
    }
    if (atomic_fetch_add(&n_done, 1) == 1) kill(getpid(), SIGTERM);
    return arg;
}

int main(int argc, char **argv) {
    char path[64];
    int config = memfd_create("tinyproxy.conf", 0);
    port = 20000 + getpid() % 10000;
    dprintf(config, "Port %d\nListen 127.0.0.1\nStatHost \"tinyproxy.stats\"\nMaxClients 4\nLogLevel Critical\n", port);
    snprintf(path, sizeof path, "/proc/self/fd/%d", config);
    argv[argc - 1] = path;
    pthread_t t;
    for (int i = 0; i < 2; i++) pthread_create(&t, NULL, client, NULL);
    return tinyproxy_main(argc, argv);
}
