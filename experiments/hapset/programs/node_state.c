// A node is put into the table first and gets its state after; who finds it there relies on the state.
// Bug: order violation.
#include <assert.h>
#include "noise.h"

static struct node {
    volatile int state;
} node;
static struct node *volatile table;

static void *create(void *arg)
{
    noise(1);
    table = &node;
    noise(1);
    node.state = 2;
    noise(3);
    return arg;
}

static void *use(void *arg)
{
    noise(1);
    struct node *found = table;
    if (found != NULL)
        assert(found->state == 2);
    noise(3);
    return arg;
}

int main(void)
{
    void *(*const bodies[])(void *) = {create, use};
    run_threads(bodies, 2);
    return 0;
}
