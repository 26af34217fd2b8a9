//@ expect: assert
//@ execs: 3000
//@ cause: while (top && | atomic_store(&head, &a);
//@ says: head T1 T2 ABA
// ABA on a lock-free stack: pop's compare-and-swap succeeds on a head that went away and came back, and
// puts a node on the stack that its owner has taken off.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

static struct node {
    _Atomic(struct node *) next;
    atomic_int taken;
} a, b;
static _Atomic(struct node *) head;

static struct node *pop(void)
{
    struct node *top = atomic_load(&head);
    while (top && !atomic_compare_exchange_strong(&head, &top, atomic_load(&top->next)))
        ;
    return top;
}

static void *popper(void *arg)
{
    (void)arg;
    pop();
    struct node *second = pop();
    if (second)
        assert(!atomic_load(&second->taken));
    return NULL;
}

static void *swapper(void *arg)
{
    (void)arg;
    struct node *all = atomic_exchange(&head, NULL);
    if (all == &a) { // keep b, put a back
        atomic_store(&b.taken, 1);
        atomic_store(&a.next, NULL);
        atomic_store(&head, &a);
    }
    return NULL;
}

int main(void)
{
    pthread_t p, s;
    atomic_store(&a.next, &b);
    atomic_store(&head, &a);
    pthread_create(&p, NULL, popper, NULL);
    pthread_create(&s, NULL, swapper, NULL);
    pthread_join(p, NULL);
    pthread_join(s, NULL);
    return 0;
}
