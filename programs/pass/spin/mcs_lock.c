//@ expect: pass
//@ execs: 200
// An MCS lock: each waiter spins on a flag of its own, without a yield.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

struct node {
    _Atomic(struct node *) next;
    atomic_int is_waiting;
};

static _Atomic(struct node *) tail;
static int count;

static void acquire(struct node *node)
{
    atomic_store(&node->next, NULL);
    atomic_store(&node->is_waiting, 1);
    struct node *before = atomic_exchange(&tail, node);
    if (!before)
        return;
    atomic_store(&before->next, node);
    while (atomic_load(&node->is_waiting))
        ;
}

static void release(struct node *node)
{
    struct node *expected = node;
    if (atomic_compare_exchange_strong(&tail, &expected, NULL))
        return;
    struct node *next;
    while (!(next = atomic_load(&node->next)))
        ;
    atomic_store(&next->is_waiting, 0);
}

static void *worker(void *arg)
{
    struct node node;
    for (int i = 0; i < 3; i++) {
        acquire(&node);
        count++;
        release(&node);
    }
    return arg;
}

int main(void)
{
    pthread_t t[3];
    for (int i = 0; i < 3; i++)
        pthread_create(&t[i], NULL, worker, NULL);
    for (int i = 0; i < 3; i++)
        pthread_join(t[i], NULL);
    assert(count == 9);
    return 0;
}
