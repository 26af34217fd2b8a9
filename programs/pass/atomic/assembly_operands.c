//@ expect: pass
//@ execs: 100
//@ unhooked: `work` (assembly_operands.c)
// Atomic instructions without hooks, with all ways to say where their memory is. Each is performed as it would be anywhere.
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>

static int whole;
static long longs[4];
static unsigned char bytes[4];
static short *shorts;
static __thread int own;
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
int sum;

static void *work(void *arg)
{
    long idx = 3, old = 1;
    __asm__ volatile("lock incl %0" : "+m"(whole));
    __asm__ volatile("lock xaddq %0, (%1,%2,8)" : "+r"(old) : "r"(longs), "r"(idx) : "memory");
    assert(old == 0 || old == 1);
    __asm__ volatile("lock addb $1, 2(%0)" : : "r"(bytes) : "memory");
    __asm__ volatile("lock orw %w0, 2(%1)" : : "r"(1 << (long)arg), "r"(shorts) : "memory");
    __asm__ volatile("lock incl %0" : "+m"(own));
    assert(own == 1);
    pthread_mutex_lock(&m);
    sum++;
    pthread_mutex_unlock(&m);
    return arg;
}

int main(void)
{
    pthread_t threads[2];
    shorts = calloc(4, sizeof *shorts);
    for (long i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, work, (void *)i);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    assert(whole == 2 && longs[3] == 2 && bytes[2] == 2 && shorts[1] == 3 && sum == 2);
    free(shorts);
    return 0;
}
