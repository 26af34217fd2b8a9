// A pipeline within the process, and requests with replies, each with a thread at the other end.
#include <assert.h>
#include <nn.h>
#include <pipeline.h>
#include <pthread.h>
#include <reqrep.h>
#include <string.h>

static void *pusher(void *arg) {
    int s = nn_socket(AF_SP, NN_PUSH);
    assert(s >= 0 && nn_connect(s, "inproc://pipe") >= 0);
    for (int i = 0; i < 3; i++) assert(nn_send(s, &i, sizeof i, 0) == sizeof i);
    int done;
    assert(nn_recv(*(int *)arg, &done, sizeof done, 0) == sizeof done);
    assert(nn_send(*(int *)arg, &done, sizeof done, 0) == sizeof done);
    nn_close(s);
    return NULL;
}

int main(void) {
    int pull = nn_socket(AF_SP, NN_PULL), rep = nn_socket(AF_SP, NN_REP), req = nn_socket(AF_SP, NN_REQ);
    assert(nn_bind(pull, "inproc://pipe") >= 0 && nn_bind(rep, "inproc://ask") >= 0);
    assert(nn_connect(req, "inproc://ask") >= 0);
    pthread_t t;
    pthread_create(&t, NULL, pusher, &rep);
    for (int i = 0, got; i < 3; i++) assert(nn_recv(pull, &got, sizeof got, 0) == sizeof got && got == i);
    int word = 42, answer = 0;
    assert(nn_send(req, &word, sizeof word, 0) == sizeof word);
    assert(nn_recv(req, &answer, sizeof answer, 0) == sizeof answer && answer == 42);
    pthread_join(t, NULL);
    nn_close(pull), nn_close(rep), nn_close(req);
    return 0;
}
