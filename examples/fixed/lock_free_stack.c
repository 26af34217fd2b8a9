// A lock-free stack (Treiber's) over a pool of nodes that are used again. The head has a count of its changes, so that it is
// never the same twice.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

#define NONE 0
static atomic_int next[4];
static atomic_long head = NONE;
static atomic_int taken[4];

// The node in the lower half, the count in the upper one.
static int node_of(long head) { return (int)(head & 0xffff); }
static long with(long head, int node) { return ((head >> 16) + 1) << 16 | node; }

static void push(int node) {
    long first = atomic_load(&head);
    do
        next[node] = node_of(first);
    while (!atomic_compare_exchange_strong(&head, &first, with(first, node)));
}

static int pop(void) {
    long first = atomic_load(&head);
    while (node_of(first) != NONE
           && !atomic_compare_exchange_strong(&head, &first, with(first, next[node_of(first)])))
        ;
    return node_of(first);
}

static void use(int node) {
    assert(atomic_fetch_add(&taken[node], 1) == 0 && "two threads have the same node");
}

static void give_back(int node) {
    atomic_fetch_sub(&taken[node], 1);
    push(node);
}

static void *keeper(void *arg) {
    int node = pop();
    if (node != NONE)
        use(node);
    return arg;
}

static void *user(void *arg) {
    int one = pop();
    if (one != NONE)
        use(one);
    int other = pop();
    if (other != NONE)
        use(other);
    if (one != NONE)
        give_back(one);
    int again = pop();
    if (again != NONE)
        use(again);
    int last = pop();
    if (last != NONE)
        use(last);
    return arg;
}

int main(void) {
    for (int node = 1; node < 4; node++)
        push(node);
    pthread_t one, other;
    pthread_create(&one, NULL, keeper, NULL);
    pthread_create(&other, NULL, user, NULL);
    pthread_join(one, NULL);
    pthread_join(other, NULL);
}
