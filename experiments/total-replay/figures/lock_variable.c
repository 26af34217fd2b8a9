// Figure 56 (a): which lock is taken depends on what another thread wrote. `balance` is under one lock in the first
// execution, and under two if `change` comes before `by_variable`.
#include <pthread.h>

static pthread_mutex_t a = PTHREAD_MUTEX_INITIALIZER, b = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t guard = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t *lock = &a;
static int balance;

static void *by_variable(void *arg) {
    pthread_mutex_lock(&guard);
    pthread_mutex_t *mine = lock;
    pthread_mutex_unlock(&guard);
    pthread_mutex_lock(mine);
    balance += 1;
    pthread_mutex_unlock(mine);
    return arg;
}

static void *fixed(void *arg) {
    pthread_mutex_lock(&a);
    balance += 2;
    pthread_mutex_unlock(&a);
    return arg;
}

static void *change(void *arg) {
    pthread_mutex_lock(&guard);
    lock = &b;
    pthread_mutex_unlock(&guard);
    return arg;
}

int main(void) {
    void *(*bodies[])(void *) = {by_variable, fixed, change};
    pthread_t threads[3];
    for (int i = 0; i < 3; i++) pthread_create(&threads[i], 0, bodies[i], 0);
    for (int i = 0; i < 3; i++) pthread_join(threads[i], 0);
    return 0;
}
