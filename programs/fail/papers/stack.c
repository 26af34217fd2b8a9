//@ expect: assert
//@ execs: 500
//@ cause: has_items = 1; | if (has_items) {
//@ says: has_items T1 T2
// A locked stack with a flag "there is something": the flag is set by the first push and never taken back.
#include <assert.h>
#include <pthread.h>

#ifndef N
#define N 5
#endif
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int items[N], top, has_items;

static void *push_all(void *arg)
{
    for (int i = 0; i < N; i++) {
        pthread_mutex_lock(&lock);
        items[top++] = i;
        has_items = 1;
        pthread_mutex_unlock(&lock);
    }
    return arg;
}

static void *pop_all(void *arg)
{
    for (int i = 0; i < N; i++) {
        pthread_mutex_lock(&lock);
        if (has_items) {
            assert(top > 0);
            top--;
        }
        pthread_mutex_unlock(&lock);
    }
    return arg;
}

int main(void)
{
    pthread_t a, b;
    pthread_create(&a, NULL, push_all, NULL);
    pthread_create(&b, NULL, pop_all, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return 0;
}
