//@ expect: livelock
//@ execs: 500
//@ cause: atomic_store(&hungry[me], 1); | if (!atomic_load(&hungry[other]))
//@ says: T1 T2
// Two polite diners hand the spoon to one another forever as soon as both are hungry at once.
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdint.h>

static atomic_int hungry[2], spoon;

static void *diner(void *arg)
{
    int me = (int)(intptr_t)arg, other = 1 - me;
    atomic_store(&hungry[me], 1);
    for (;;) {
        if (atomic_load(&spoon) != me) {
            sched_yield();
            continue;
        }
        if (!atomic_load(&hungry[other]))
            break;
        atomic_store(&spoon, other); // after you!
    }
    atomic_store(&hungry[me], 0);
    atomic_store(&spoon, other);
    return NULL;
}

int main(void)
{
    pthread_t t[2];
    for (int i = 0; i < 2; i++)
        pthread_create(&t[i], NULL, diner, (void *)(intptr_t)i);
    for (int i = 0; i < 2; i++)
        pthread_join(t[i], NULL);
    return 0;
}
