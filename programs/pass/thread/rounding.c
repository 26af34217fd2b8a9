//@ expect: pass
//@ execs: 100
//@ flags: -lm -frounding-math
// Each thread has its own floating-point environment, and begins with its creator's.
#include <assert.h>
#include <errno.h>
#include <fenv.h>
#include <math.h>
#include <pthread.h>
#include <stdatomic.h>

static _Atomic int steps;

static void *run(void *arg)
{
    int mode = arg ? FE_UPWARD : FE_DOWNWARD;
    volatile double one = 1, three = 3;
    fesetround(mode);
    errno = mode;
    for (int i = 0; i < 4; i++) {
        steps++;
        double third = one / three;
        assert(arg ? third * 3 > 1 || third > 0.33333333333333331 : third <= 0.33333333333333331);
        assert(fegetround() == mode);
        assert(errno == mode);
    }
    return NULL;
}

static void *inherit(void *arg)
{
    assert(fegetround() == FE_TOWARDZERO);
    return arg;
}

int main(void)
{
    pthread_t threads[2];
    pthread_create(&threads[0], NULL, run, NULL);
    pthread_create(&threads[1], NULL, run, &steps);
    for (int i = 0; i < 4; i++) {
        steps++;
        assert(fegetround() == FE_TONEAREST);
    }
    pthread_join(threads[0], NULL);
    pthread_join(threads[1], NULL);
    assert(fegetround() == FE_TONEAREST);
    fesetround(FE_TOWARDZERO);
    pthread_create(&threads[0], NULL, inherit, NULL);
    fesetround(FE_TONEAREST);
    pthread_join(threads[0], NULL);
    return 0;
}
