//@ expect: deadlock
//@ execs: 500
//@ cause: eventfd_write(events, 1); | eventfd_read(events, &n);
//@ says: T2
// The reader counts on one read for each write, but an eventfd adds up what has not been read yet.
#include <pthread.h>
#include <sys/eventfd.h>
#include <stddef.h>

static int events;

static void *writer(void *arg)
{
    (void)arg;
    eventfd_write(events, 1);
    return NULL;
}

static void *reader(void *arg)
{
    (void)arg;
    eventfd_t n;
    for (int i = 0; i < 2; i++)
        eventfd_read(events, &n);
    return NULL;
}

int main(void)
{
    pthread_t t[3];
    events = eventfd(0, 0);
    pthread_create(&t[0], NULL, writer, NULL);
    pthread_create(&t[1], NULL, reader, NULL);
    pthread_create(&t[2], NULL, writer, NULL);
    for (int i = 0; i < 3; i++)
        pthread_join(t[i], NULL);
    return 0;
}
