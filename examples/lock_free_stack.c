// A lock-free stack (Treiber's) over a pool of nodes that are used again. While a thread is between reading the head's next
// node and its compare-exchange, the head may leave and come back: A-B-A.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

#define NONE 0
static int next[4];
static atomic_int head = NONE;
static atomic_int taken[4];

static void push(int node) {
    int first = atomic_load(&head);
    do
        next[node] = first;
    while (!atomic_compare_exchange_strong(&head, &first, node));
}

static int pop(void) {
    int first = atomic_load(&head);
    while (first != NONE && !atomic_compare_exchange_strong(&head, &first, next[first]))
        ;
    return first;
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
