//@ expect: exit
//@ execs: 500
//@ cause: atomic_store(&status, (int)(intptr_t)arg);
//@ says: status T1 T2
// The program's exit code is what the last writer left.
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>

static atomic_int status;

static void *report(void *arg)
{
    atomic_store(&status, (int)(intptr_t)arg);
    return NULL;
}

int main(void)
{
    pthread_t a, b;
    pthread_create(&a, NULL, report, (void *)(intptr_t)3);
    pthread_create(&b, NULL, report, (void *)(intptr_t)0);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return atomic_load(&status);
}
