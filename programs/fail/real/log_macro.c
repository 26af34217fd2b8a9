//@ expect: assert
//@ execs: 1000
//@ cause: LOG("accepted") | LOG("rejected")
//@ says: next T1 T2
// A logging macro takes the next entry of a ring by a plain counter: two threads write the same entry.
#include <assert.h>
#include <pthread.h>
#include <stddef.h>

#define ENTRIES 8
#define LOG(text)                 \
    do {                          \
        int index = ring.next;    \
        ring.next = index + 1;    \
        ring.entries[index % ENTRIES] = (text); \
    } while (0)

static struct {
    volatile int next;
    const char *volatile entries[ENTRIES];
} ring;

static void *acceptor(void *arg)
{
    LOG("accepted");
    return arg;
}

static void *rejector(void *arg)
{
    LOG("rejected");
    return arg;
}

int main(void)
{
    pthread_t threads[2];
    pthread_create(&threads[0], NULL, acceptor, NULL);
    pthread_create(&threads[1], NULL, rejector, NULL);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    assert(ring.next == 2);
    return 0;
}
