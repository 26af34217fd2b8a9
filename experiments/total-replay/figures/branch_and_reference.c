// Figure 57: the race needs both a branch that goes the other way (line "x = 10" before the sum) and a reference that
// another thread has set (`ref2 = ref1` before `ref2->credit`). Neither alone shows it.
#include <pthread.h>

struct account {
    int credit;
};

static pthread_mutex_t a = PTHREAD_MUTEX_INITIALIZER, b = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t guard = PTHREAD_MUTEX_INITIALIZER;
static struct account accounts[2];
static struct account *ref1 = &accounts[0], *ref2;
static int x, y;

static void *first(void *arg) {
    pthread_mutex_lock(&guard);
    x = -3;
    y = 2;
    pthread_mutex_unlock(&guard);
    pthread_mutex_lock(&guard);
    int n = x + y;
    pthread_mutex_unlock(&guard);
    if (n >= 0) {
        pthread_mutex_lock(&a);
        ref1->credit = 5;
        pthread_mutex_unlock(&a);
    }
    return arg;
}

static void *second(void *arg) {
    pthread_mutex_lock(&guard);
    x = 10;
    pthread_mutex_unlock(&guard);
    pthread_mutex_lock(&b);
    ref2 = &accounts[1];
    pthread_mutex_unlock(&b);
    pthread_mutex_lock(&b);
    ref2->credit = 7;
    pthread_mutex_unlock(&b);
    return arg;
}

static void *third(void *arg) {
    pthread_mutex_lock(&b);
    ref2 = ref1;
    pthread_mutex_unlock(&b);
    return arg;
}

int main(void) {
    void *(*bodies[])(void *) = {first, second, third};
    pthread_t threads[3];
    for (int i = 0; i < 3; i++) pthread_create(&threads[i], 0, bodies[i], 0);
    for (int i = 0; i < 3; i++) pthread_join(threads[i], 0);
    return 0;
}
