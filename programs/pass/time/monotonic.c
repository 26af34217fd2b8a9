//@ expect: pass
//@ execs: 200
// The monotonic clock never goes back, and a sleep takes at least its length, on every kind of sleep.
#include <assert.h>
#include <pthread.h>
#include <stdint.h>
#include <time.h>
#include <unistd.h>

static int64_t now(void)
{
    struct timespec t;
    assert(clock_gettime(CLOCK_MONOTONIC, &t) == 0);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static void *sleeper(void *arg)
{
    (void)arg;
    int64_t start = now();
    nanosleep(&(struct timespec){0, 1000 * 1000}, NULL);
    int64_t after_nano = now();
    assert(after_nano - start >= 1000 * 1000);
    usleep(1000);
    int64_t after_micro = now();
    assert(after_micro - after_nano >= 1000 * 1000);
    struct timespec until = {after_micro / 1000000000, after_micro % 1000000000};
    until.tv_sec += until.tv_nsec >= 999000000;
    until.tv_nsec = (until.tv_nsec + 1000 * 1000) % 1000000000;
    assert(clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL) == 0);
    assert(now() - after_micro >= 1000 * 1000);
    return NULL;
}

int main(void)
{
    pthread_t t[3];
    int64_t start = now();
    for (int i = 0; i < 3; i++)
        pthread_create(&t[i], NULL, sleeper, NULL);
    for (int i = 0; i < 3; i++)
        pthread_join(t[i], NULL);
    assert(now() - start >= 3 * 1000 * 1000);
    return 0;
}
