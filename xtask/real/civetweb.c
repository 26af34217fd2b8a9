// A server with two workers, two clients at once.
#include <arpa/inet.h>
#include <assert.h>
#include <civetweb.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static int port;

static int answer(struct mg_connection *it, void *data) {
    mg_printf(it, "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nConnection: close\r\n\r\nhello");
    return 200;
}

static void *client(void *arg) {
    for (int i = 0; i < 2; i++) {
        struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons(port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
        int fd = socket(AF_INET, SOCK_STREAM, 0);
        assert(connect(fd, (struct sockaddr *)&to, sizeof to) == 0);
        const char *request = "GET /hello HTTP/1.0\r\n\r\n";
        assert(write(fd, request, strlen(request)) == (ssize_t)strlen(request));
        char text[1024];
        size_t n = 0;
        for (ssize_t k; n < sizeof text - 1 && (k = read(fd, text + n, sizeof text - 1 - n)) > 0;) n += k;
        text[n] = 0;
        close(fd);
        assert(n >= 5 && strcmp(text + n - 5, "hello") == 0);
    }
    return arg;
}

int main(void) {
    const char *options[] = {"listening_ports", "127.0.0.1:0", "num_threads", "2", NULL};
    mg_init_library(0);
    struct mg_context *server = mg_start(NULL, NULL, options);
    assert(server);
    mg_set_request_handler(server, "/hello", answer, NULL);
    struct mg_server_port ports[1];
    assert(mg_get_server_ports(server, 1, ports) == 1);
    port = ports[0].port;
    pthread_t t[2];
    for (int i = 0; i < 2; i++) pthread_create(&t[i], NULL, client, NULL);
    for (int i = 0; i < 2; i++) pthread_join(t[i], NULL);
    mg_stop(server);
    mg_exit_library();
    return 0;
}
