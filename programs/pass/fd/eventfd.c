//@ expect: pass
//@ execs: 200
// An eventfd as a semaphore and one as an accumulating counter.
#include <assert.h>
#include <pthread.h>
#include <stdint.h>
#include <sys/eventfd.h>
#include <unistd.h>

static int permits, total;

static void *poster(void *arg)
{
    (void)arg;
    for (int i = 0; i < 2; i++) {
        assert(eventfd_write(total, 5) == 0);
        assert(eventfd_write(permits, 1) == 0);
    }
    return NULL;
}

static void *taker(void *arg)
{
    (void)arg;
    eventfd_t one;
    for (int i = 0; i < 2; i++)
        assert(eventfd_read(permits, &one) == 0 && one == 1);
    return NULL;
}

int main(void)
{
    pthread_t t[4];
    eventfd_t sum;
    permits = eventfd(0, EFD_SEMAPHORE);
    total = eventfd(0, 0);
    assert(permits >= 0 && total >= 0);
    for (int i = 0; i < 4; i++)
        pthread_create(&t[i], NULL, i % 2 ? poster : taker, NULL);
    for (int i = 0; i < 4; i++)
        pthread_join(t[i], NULL);
    assert(eventfd_read(total, &sum) == 0 && sum == 20);
    close(permits);
    close(total);
    return 0;
}
