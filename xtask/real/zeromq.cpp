// A thread pushes over inproc and asks for a reply; all of it must arrive, in order.
#include <cassert>
#include <thread>
#include <zmq.h>

static const int N = 3;
static void *context;

static void push() {
    void *push = zmq_socket(context, ZMQ_PUSH), *ask = zmq_socket(context, ZMQ_REQ);
    assert(zmq_connect(push, "inproc://pipe") == 0 && zmq_connect(ask, "inproc://ask") == 0);
    for (int i = 0; i < N; i++) assert(zmq_send(push, &i, sizeof i, 0) == sizeof i);
    int word = 42, answer = 0;
    assert(zmq_send(ask, &word, sizeof word, 0) == sizeof word);
    assert(zmq_recv(ask, &answer, sizeof answer, 0) == sizeof answer && answer == 43);
    zmq_close(push), zmq_close(ask);
}

int main() {
    context = zmq_ctx_new();
    void *pull = zmq_socket(context, ZMQ_PULL), *reply = zmq_socket(context, ZMQ_REP);
    assert(zmq_bind(pull, "inproc://pipe") == 0 && zmq_bind(reply, "inproc://ask") == 0);
    std::thread pusher(push);
    for (int i = 0, got; i < N; i++) assert(zmq_recv(pull, &got, sizeof got, 0) == sizeof got && got == i);
    int word = 0;
    assert(zmq_recv(reply, &word, sizeof word, 0) == sizeof word);
    word++;
    assert(zmq_send(reply, &word, sizeof word, 0) == sizeof word);
    pusher.join();
    zmq_close(pull), zmq_close(reply);
    assert(zmq_ctx_term(context) == 0);
}
