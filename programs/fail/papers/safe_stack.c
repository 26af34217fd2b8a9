//@ expect: assert
//@ execs: 1000
//@ cause: int cell = atomic_load(&head); | if (atomic_compare_exchange_strong(&head, &expected, next)) {
//@ says: head T1 T3 ABA
// An array of cells linked into a lock-free stack; three threads take a cell, use it, put it back. A cell
// that went away and came back between "read the head" and "exchange the head" (ABA) breaks the links.
// As it was published, pop also takes the link off a cell for a moment (UNLINK), so that no other pop gets
// as far: what is left is a stale link that is put back. And it was published without the look at the links
// in the end (USERS_ONLY): then the bug shows only when two threads use one cell, which takes five
// preemptions at the right places.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

#ifndef UNLINK
#define UNLINK 0
#endif
#ifndef USERS_ONLY
#define USERS_ONLY 0
#endif
enum { CELLS = 3, THREADS = 3, ROUNDS = 2 };
static atomic_int next_cell[CELLS] = {1, 2, -1};
static atomic_int head, n_free = CELLS;
static atomic_int n_users[CELLS];

static int pop(void)
{
    while (atomic_load(&n_free) > 1) {
        int cell = atomic_load(&head);
        int next = UNLINK ? atomic_exchange(&next_cell[cell], -1) : atomic_load(&next_cell[cell]);
        if (next >= 0) {
            int expected = cell;
            if (atomic_compare_exchange_strong(&head, &expected, next)) {
                atomic_fetch_sub(&n_free, 1);
                return cell;
            }
            if (UNLINK)
                atomic_store(&next_cell[cell], next);
        }
    }
    return -1;
}

static void push(int cell)
{
    int old = atomic_load(&head);
    do
        atomic_store(&next_cell[cell], old);
    while (!atomic_compare_exchange_strong(&head, &old, cell));
    atomic_fetch_add(&n_free, 1);
}

static void *work(void *arg)
{
    for (int round = 0; round < ROUNDS; round++) {
        int cell = pop();
        if (cell < 0)
            continue;
        assert(atomic_fetch_add(&n_users[cell], 1) == 0);
        atomic_fetch_sub(&n_users[cell], 1);
        push(cell);
    }
    return arg;
}

int main(void)
{
    pthread_t t[THREADS];
    for (int i = 0; i < THREADS; i++)
        pthread_create(&t[i], NULL, work, NULL);
    for (int i = 0; i < THREADS; i++)
        pthread_join(t[i], NULL);
    int n_linked = 0;
    for (int cell = head; cell >= 0 && n_linked <= CELLS; cell = next_cell[cell])
        n_linked++;
    assert(USERS_ONLY || n_linked == CELLS);
    return 0;
}
