//@ expect: pass
//@ execs: 200
// POSIX message queues between threads: a receiver waits for a message, a sender for room; priorities, time limits
// and queues that don't wait keep their meaning.
#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <mqueue.h>
#include <pthread.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

enum { N_MESSAGES = 4, SIZE = 16 };
static mqd_t queue;

static void *receive(void *arg)
{
    char message[SIZE];
    int sum = 0;
    for (int i = 0; i < N_MESSAGES; i++) {
        unsigned priority = 9;
        assert(mq_receive(queue, message, SIZE, &priority) == 2);
        assert(priority == 1 && message[1] == '!');
        sum += message[0];
    }
    assert(sum == 0 + 1 + 2 + 3);
    return arg;
}

static void *send(void *arg)
{
    for (int i = 0; i < N_MESSAGES; i++) {
        char message[2] = {(char)i, '!'};
        assert(mq_send(queue, message, 2, 1) == 0);
    }
    return arg;
}

int main(void)
{
    char name[64], message[SIZE];
    snprintf(name, sizeof name, "/raddle-messages-%d", (int)getpid());
    struct mq_attr attributes = {.mq_maxmsg = 1, .mq_msgsize = SIZE};
    queue = mq_open(name, O_CREAT | O_EXCL | O_RDWR, 0600, &attributes);
    assert(queue != (mqd_t)-1);
    mqd_t hasty = mq_open(name, O_RDWR | O_NONBLOCK);
    mq_unlink(name);
    assert(mq_receive(hasty, message, SIZE, NULL) == -1 && errno == EAGAIN);
    struct timespec soon;
    clock_gettime(CLOCK_REALTIME, &soon);
    soon.tv_nsec += soon.tv_nsec < 999000000 ? 1000000 : 0;
    assert(mq_timedreceive(queue, message, SIZE, NULL, &soon) == -1 && errno == ETIMEDOUT);
    pthread_t receiver, sender;
    pthread_create(&receiver, NULL, receive, NULL);
    pthread_create(&sender, NULL, send, NULL);
    pthread_join(receiver, NULL);
    pthread_join(sender, NULL);
    mq_close(hasty);
    mq_close(queue);
    return 0;
}
