//@ expect: pass
//@ execs: 200
//@ flags: -std=gnu89
/* Before C99, a `main` without `return` leaves what the last call has left in the register. */
#include <pthread.h>
#include <stdio.h>

static void *work(void *arg)
{
    return arg;
}

int main()
{
    pthread_t thread;
    pthread_create(&thread, 0, work, 0);
    pthread_join(thread, 0);
    printf("nineteen characters");
}
