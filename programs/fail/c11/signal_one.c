//@ expect: deadlock
//@ execs: 500
//@ flags: -std=c11
//@ cause: cnd_signal(&opened); | cnd_wait(&opened, &lock);
//@ says: opened T0 T1 T2
// Both C11 threads may be waiting for the door, but it is announced with cnd_signal.
#include <stddef.h>
#include <threads.h>

static mtx_t lock;
static cnd_t opened;
static int door;

static int guest(void *arg)
{
    (void)arg;
    mtx_lock(&lock);
    while (!door)
        cnd_wait(&opened, &lock);
    mtx_unlock(&lock);
    return 0;
}

int main(void)
{
    thrd_t a, b;
    mtx_init(&lock, mtx_plain);
    cnd_init(&opened);
    thrd_create(&a, guest, NULL);
    thrd_create(&b, guest, NULL);
    mtx_lock(&lock);
    door = 1;
    cnd_signal(&opened); // should be cnd_broadcast
    mtx_unlock(&lock);
    thrd_join(a, NULL);
    thrd_join(b, NULL);
    return 0;
}
