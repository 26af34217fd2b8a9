// A connection is handed to the socket thread before its callbacks are set.
// Bug: order violation (crash).
#include "noise.h"

static void on_connect(void)
{
    noise(1);
}

static struct connection {
    void (*volatile callback)(void);
} connection;
static struct connection *volatile pending;

static void *connect_to(void *arg)
{
    noise(1);
    pending = &connection;
    noise(1);
    connection.callback = on_connect;
    noise(2);
    return arg;
}

static void *serve_sockets(void *arg)
{
    for (int i = 0; i < 2; i++) {
        noise(1);
        if (pending != NULL)
            pending->callback();
    }
    noise(2);
    return arg;
}

int main(void)
{
    void *(*const bodies[])(void *) = {connect_to, serve_sockets};
    run_threads(bodies, 2);
    return 0;
}
