//@ expect: deadlock
//@ execs: 500
//@ cause: if (poll(&ready, 1, 0) == 1
//@ says: T1
// Two threads both learn from poll that the pipe can be read; the slower one blocks in read.
#include <poll.h>
#include <pthread.h>
#include <unistd.h>

static int ends[2];

static void *worker(void *arg)
{
    struct pollfd ready = {ends[0], POLLIN, 0};
    char c;
    if (poll(&ready, 1, 0) == 1 && read(ends[0], &c, 1) != 1)
        _exit(2);
    return arg;
}

int main(void)
{
    pthread_t a, b;
    if (pipe(ends) || write(ends[1], "x", 1) != 1)
        return 2;
    pthread_create(&a, NULL, worker, NULL);
    pthread_create(&b, NULL, worker, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return 0;
}
