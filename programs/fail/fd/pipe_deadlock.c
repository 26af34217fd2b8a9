//@ expect: deadlock
//@ execs: 500
//@ cause: atomic_store(&begun[me], 1); | if (atomic_load(&begun[other])) {
//@ says: T1
// A thread that sees that its peer has started lets it write first; if both see it, both read forever.
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <unistd.h>

static int inbox[2][2];
static atomic_int begun[2];

static void say(int to)
{
    if (write(inbox[to][1], "x", 1) != 1)
        _exit(2);
}

static void hear(int me)
{
    char c;
    if (read(inbox[me][0], &c, 1) != 1)
        _exit(2);
}

static void *peer(void *arg)
{
    int me = (int)(intptr_t)arg, other = 1 - me;
    atomic_store(&begun[me], 1);
    if (atomic_load(&begun[other])) {
        hear(me);
        say(other);
    } else {
        say(other);
        hear(me);
    }
    return NULL;
}

int main(void)
{
    pthread_t t[2];
    if (pipe(inbox[0]) || pipe(inbox[1]))
        return 2;
    for (int i = 0; i < 2; i++)
        pthread_create(&t[i], NULL, peer, (void *)(intptr_t)i);
    for (int i = 0; i < 2; i++)
        pthread_join(t[i], NULL);
    return 0;
}
