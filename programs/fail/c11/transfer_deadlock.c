//@ expect: deadlock
//@ execs: 500
//@ flags: -std=c11
//@ cause: mtx_lock(&lock[
//@ says: lock[1] lock[0] T1 T2
// C11 mutexes of two accounts locked in the order of the transfer.
#include <stddef.h>
#include <threads.h>

static mtx_t lock[2];
static int balance[2] = {10, 10};

static int transfer(void *arg)
{
    const int *way = arg;
    mtx_lock(&lock[way[0]]);
    mtx_lock(&lock[way[1]]);
    balance[way[0]]--;
    balance[way[1]]++;
    mtx_unlock(&lock[way[1]]);
    mtx_unlock(&lock[way[0]]);
    return 0;
}

int main(void)
{
    thrd_t a, b;
    int there[2] = {0, 1}, back[2] = {1, 0};
    mtx_init(&lock[0], mtx_plain);
    mtx_init(&lock[1], mtx_plain);
    thrd_create(&a, transfer, there);
    thrd_create(&b, transfer, back);
    thrd_join(a, NULL);
    thrd_join(b, NULL);
    return balance[0] + balance[1] == 20 ? 0 : 1;
}
