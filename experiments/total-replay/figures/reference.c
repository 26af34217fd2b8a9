// Figure 56 (b): two references, each under a lock of its own, refer to the same account if `alias` comes before
// `second`.
#include <pthread.h>

struct account {
    int credit;
};

static pthread_mutex_t a = PTHREAD_MUTEX_INITIALIZER, b = PTHREAD_MUTEX_INITIALIZER;
static struct account accounts[2];
static struct account *ref1 = &accounts[0], *ref2 = &accounts[1];

static void *first(void *arg) {
    pthread_mutex_lock(&a);
    ref1->credit = 5;
    pthread_mutex_unlock(&a);
    return arg;
}

static void *second(void *arg) {
    pthread_mutex_lock(&b);
    ref2->credit = 7;
    pthread_mutex_unlock(&b);
    return arg;
}

static void *alias(void *arg) {
    pthread_mutex_lock(&b);
    ref2 = ref1;
    pthread_mutex_unlock(&b);
    return arg;
}

int main(void) {
    void *(*bodies[])(void *) = {first, second, alias};
    pthread_t threads[3];
    for (int i = 0; i < 3; i++) pthread_create(&threads[i], 0, bodies[i], 0);
    for (int i = 0; i < 3; i++) pthread_join(threads[i], 0);
    return 0;
}
