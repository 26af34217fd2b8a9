//@ expect: deadlock
//@ execs: 200
//@ cause: atomic_fetch_add(&n_asked, 1); | if (atomic_load(&n_asked) == 1)
//@ says: T1
// Each of two threads answers what the other asks, and asks first only if it sees that nobody has: both may see
// that somebody has.
#include <assert.h>
#include <fcntl.h>
#include <mqueue.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <unistd.h>

enum { SIZE = 8 };
static mqd_t queues[2];
static atomic_int n_asked;

static void *converse(void *arg)
{
    long me = (long)arg;
    char word[SIZE];
    // The last one to come waits to be asked; but the first has not yet decided to ask.
    atomic_fetch_add(&n_asked, 1);
    if (atomic_load(&n_asked) == 1)
        mq_send(queues[!me], "hello", 6, 0);
    mq_receive(queues[me], word, SIZE, NULL);
    mq_send(queues[!me], "hello", 6, 0);
    return NULL;
}

int main(void)
{
    struct mq_attr attributes = {.mq_maxmsg = 2, .mq_msgsize = SIZE};
    for (int i = 0; i < 2; i++) {
        char name[64];
        snprintf(name, sizeof name, "/raddle-both-%d-%d", (int)getpid(), i);
        queues[i] = mq_open(name, O_CREAT | O_EXCL | O_RDWR, 0600, &attributes);
        assert(queues[i] != (mqd_t)-1);
        mq_unlink(name);
    }
    pthread_t threads[2];
    for (long i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, converse, (void *)i);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    return 0;
}
