// Requests and replies within the process, with a thread at the other end.
#include <assert.h>
#include <nng/nng.h>
#include <nng/protocol/pair0/pair.h>
#include <nng/protocol/reqrep0/rep.h>
#include <nng/protocol/reqrep0/req.h>
#include <pthread.h>

static nng_socket rep, left;

static void *server(void *arg) {
    for (int i = 0; i < 3; i++) {
        int word;
        size_t size = sizeof word;
        assert(nng_recv(rep, &word, &size, 0) == 0 && size == sizeof word);
        word++;
        assert(nng_send(rep, &word, size, 0) == 0);
    }
    int last = 7;
    assert(nng_send(left, &last, sizeof last, 0) == 0);
    return arg;
}

int main(void) {
    nng_socket req, right;
    assert(nng_rep0_open(&rep) == 0 && nng_req0_open(&req) == 0);
    assert(nng_pair0_open(&left) == 0 && nng_pair0_open(&right) == 0);
    assert(nng_listen(rep, "inproc://ask", NULL, 0) == 0 && nng_dial(req, "inproc://ask", NULL, 0) == 0);
    assert(nng_listen(left, "inproc://pair", NULL, 0) == 0 && nng_dial(right, "inproc://pair", NULL, 0) == 0);
    pthread_t t;
    pthread_create(&t, NULL, server, NULL);
    for (int i = 0; i < 3; i++) {
        int word = 10 * i;
        size_t size = sizeof word;
        assert(nng_send(req, &word, size, 0) == 0);
        assert(nng_recv(req, &word, &size, 0) == 0 && word == 10 * i + 1);
    }
    int last = 0;
    size_t size = sizeof last;
    assert(nng_recv(right, &last, &size, 0) == 0 && last == 7);
    pthread_join(t, NULL);
    nng_close(req), nng_close(rep), nng_close(left), nng_close(right);
    return 0;
}
