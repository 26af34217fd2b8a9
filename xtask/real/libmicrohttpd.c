// A daemon with a pool of two threads, two clients at once.
#include <arpa/inet.h>
#include <assert.h>
#include <microhttpd.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static int port;


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

static enum MHD_Result answer(void *data, struct MHD_Connection *it, const char *url, const char *method,
                              const char *version, const char *upload, size_t *size, void **state) {
    struct MHD_Response *response = MHD_create_response_from_buffer(5, "hello", MHD_RESPMEM_PERSISTENT);
    enum MHD_Result result = MHD_queue_response(it, MHD_HTTP_OK, response);
    MHD_destroy_response(response);
    return result;
}

int main(void) {
    struct MHD_Daemon *daemon = MHD_start_daemon(MHD_USE_INTERNAL_POLLING_THREAD | MHD_USE_POLL, 0, NULL, NULL, answer, NULL,
                                                 MHD_OPTION_THREAD_POOL_SIZE, 2u, MHD_OPTION_END);
    assert(daemon);
    port = MHD_get_daemon_info(daemon, MHD_DAEMON_INFO_BIND_PORT)->port;
    pthread_t t[2];
    for (int i = 0; i < 2; i++) pthread_create(&t[i], NULL, client, NULL);
    for (int i = 0; i < 2; i++) pthread_join(t[i], NULL);
    MHD_stop_daemon(daemon);
    return 0;
}
