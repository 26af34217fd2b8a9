//@ expect: pass
//@ execs: 200
//@ flags: -std=c11
// C11 threads: a hand-over between thrd_t's with mtx_t and cnd_t, and results through thrd_join.
#include <assert.h>
#include <stddef.h>
#include <threads.h>

static mtx_t lock;
static cnd_t changed;
static int letters, read_;

static int writer(void *arg)
{
    for (int i = 0; i < *(int *)arg; i++) {
        mtx_lock(&lock);
        letters++;
        cnd_signal(&changed);
        mtx_unlock(&lock);
        thrd_yield();
    }
    return 3;
}

static int reader(void *arg)
{
    mtx_lock(&lock);
    while (read_ < *(int *)arg) {
        while (letters == 0)
            cnd_wait(&changed, &lock);
        letters--;
        read_++;
    }
    mtx_unlock(&lock);
    return 4;
}

int main(void)
{
    thrd_t w, r;
    int n = 3, got;
    assert(mtx_init(&lock, mtx_plain) == thrd_success);
    assert(cnd_init(&changed) == thrd_success);
    assert(thrd_create(&r, reader, &n) == thrd_success);
    assert(thrd_create(&w, writer, &n) == thrd_success);
    assert(thrd_join(w, &got) == thrd_success && got == 3);
    assert(thrd_join(r, &got) == thrd_success && got == 4);
    assert(letters == 0 && read_ == 3);
    cnd_destroy(&changed);
    mtx_destroy(&lock);
    return 0;
}
