//@ expect: pass
//@ execs: 200
// setjmp and longjmp inside each of two threads, across a call that locks and unlocks.
#include <assert.h>
#include <pthread.h>
#include <setjmp.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int failures;

static void attempt(jmp_buf back, int round)
{
    pthread_mutex_lock(&lock);
    failures++;
    pthread_mutex_unlock(&lock);
    if (round < 3)
        longjmp(back, 1);
}

static void *worker(void *arg)
{
    jmp_buf back;
    volatile int round = 0; // local, yet changed between setjmp and longjmp
    if (setjmp(back) != 0)
        round++;
    attempt(back, round);
    assert(round == 3);
    return arg;
}

int main(void)
{
    pthread_t a, b;
    pthread_create(&a, NULL, worker, NULL);
    pthread_create(&b, NULL, worker, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    assert(failures == 8);
    return 0;
}
