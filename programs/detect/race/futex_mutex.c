//@ none
// A mutex by hand, on a futex.
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

static atomic_int word;
static int count;

static void add(void)
{
    int seen = 0;
    while (!atomic_compare_exchange_strong(&word, &seen, 1)) {
        if (seen == 2 || atomic_compare_exchange_strong(&word, &seen, 2))
            syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, 2, NULL);
        seen = 0;
    }
    count++;
    if (atomic_exchange(&word, 0) == 2)
        syscall(SYS_futex, &word, FUTEX_WAKE_PRIVATE, 2);
}

static void *first(void *arg)
{
    add();
    return arg;
}

static void *second(void *arg)
{
    add();
    return arg;
}

int main(void)
{
    pthread_t a, b;
    pthread_create(&a, NULL, first, NULL);
    pthread_create(&b, NULL, second, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return 0;
}
