//@ expect: misuse
//@ execs: 200
//@ cause: if (__atomic_load_n(&top | __atomic_sub_fetch(&top
//@ says: stack T1
// Two threads find one element, and both take one.
#include <pthread.h>
#include <stdlib.h>

static int *stack;
static int top;

static void *pop(void *arg)
{
    if (__atomic_load_n(&top, __ATOMIC_SEQ_CST) > 0) {
        int at = __atomic_sub_fetch(&top, 1, __ATOMIC_SEQ_CST);
        *(volatile int *)&stack[at] = 0;
    }
    return arg;
}

int main(void)
{
    stack = malloc(8 * sizeof *stack);
    top = 1;
    pthread_t a, b;
    pthread_create(&a, NULL, pop, NULL);
    pthread_create(&b, NULL, pop, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    free(stack);
    return 0;
}
