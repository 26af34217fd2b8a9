//@ expect: pass
//@ execs: 400
// fail/papers/tango.c, mended: of two circles, the one with the lower address is locked first.
#include <assert.h>
#include <pthread.h>

static struct circle {
    pthread_mutex_t lock;
    int x;
} circles[2] = {{PTHREAD_MUTEX_INITIALIZER, 1}, {PTHREAD_MUTEX_INITIALIZER, 2}};

static void exchange(struct circle *one, struct circle *other)
{
    struct circle *first = one < other ? one : other, *second = one < other ? other : one;
    pthread_mutex_lock(&first->lock);
    pthread_mutex_lock(&second->lock);
    int x = one->x;
    one->x = other->x;
    other->x = x;
    pthread_mutex_unlock(&second->lock);
    pthread_mutex_unlock(&first->lock);
}

static void *slide(void *arg)
{
    exchange(&circles[0], &circles[1]);
    return arg;
}

int main(void)
{
    pthread_t animation;
    pthread_create(&animation, NULL, slide, NULL);
    exchange(&circles[1], &circles[0]);
    pthread_join(animation, NULL);
    assert(circles[0].x == 1 && circles[1].x == 2); // twice exchanged
    return 0;
}
