//@ expect: deadlock
//@ execs: 500
//@ cause: pthread_mutex_lock(&one->lock); | pthread_mutex_lock(&other->lock);
//@ says: a.lock b.lock T0 T1
// "Exchange these two circles" locks the first, then the second. A thread exchanges a and b while its
// creator exchanges b and a: the same thing, one would think. (Stoller's third example.)
#include <pthread.h>

#ifndef FRAMES
#define FRAMES 4
#endif
static struct circle {
    pthread_mutex_t lock;
    int x, y;
} a = {PTHREAD_MUTEX_INITIALIZER, 0, 0}, b = {PTHREAD_MUTEX_INITIALIZER, 30, 30};

static void draw(struct circle *circle, int x, int y)
{
    circle->x = x;
    circle->y = y;
}

static void exchange(struct circle *one, struct circle *other)
{
    pthread_mutex_lock(&one->lock);
    int x = one->x, y = one->y;
    pthread_mutex_lock(&other->lock);
    int dx = other->x - x, dy = other->y - y;
    for (int i = 1; i <= FRAMES; i++) {
        draw(one, x + dx * i / FRAMES, y + dy * i / FRAMES);
        draw(other, x + dx - dx * i / FRAMES, y + dy - dy * i / FRAMES);
    }
    pthread_mutex_unlock(&other->lock);
    pthread_mutex_unlock(&one->lock);
}

static void *slide(void *arg)
{
    exchange(&a, &b);
    return arg;
}

int main(void)
{
    pthread_t animation;
    pthread_create(&animation, NULL, slide, NULL);
    exchange(&b, &a);
    pthread_join(animation, NULL);
    return 0;
}
