//@ expect: pass
//@ execs: 200
// Two pipes between two threads: numbers go out, squares come back, closing ends it.
#include <assert.h>
#include <pthread.h>
#include <unistd.h>

static int out[2], back[2];

static void *squarer(void *arg)
{
    (void)arg;
    int n;
    while (read(out[0], &n, sizeof n) == sizeof n) {
        n *= n;
        assert(write(back[1], &n, sizeof n) == sizeof n);
    }
    close(back[1]);
    return NULL;
}

static void *asker(void *arg)
{
    (void)arg;
    int n;
    for (int i = 1; i <= 3; i++) {
        assert(write(out[1], &i, sizeof i) == sizeof i);
        assert(read(back[0], &n, sizeof n) == sizeof n && n == i * i);
    }
    close(out[1]);
    assert(read(back[0], &n, sizeof n) == 0); // end of file
    return NULL;
}

int main(void)
{
    pthread_t a, b;
    assert(pipe(out) == 0 && pipe(back) == 0);
    pthread_create(&a, NULL, squarer, NULL);
    pthread_create(&b, NULL, asker, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return 0;
}
