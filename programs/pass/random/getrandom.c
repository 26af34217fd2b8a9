//@ expect: pass
//@ execs: 200
// The number of steps comes from getrandom, what they add from rand: whatever comes, nothing is lost.
#include <assert.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/random.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int total;

static void *worker(void *arg)
{
    (void)arg;
    unsigned char byte;
    assert(getrandom(&byte, 1, 0) == 1);
    intptr_t mine = 0;
    for (int steps = byte % 3 + 1; steps > 0; steps--) {
        int drawn = rand() % 10;
        pthread_mutex_lock(&lock);
        total += drawn;
        pthread_mutex_unlock(&lock);
        mine += drawn;
    }
    return (void *)mine;
}

int main(void)
{
    pthread_t t[3];
    int sum = 0;
    srand(1);
    for (int i = 0; i < 3; i++)
        pthread_create(&t[i], NULL, worker, NULL);
    for (int i = 0; i < 3; i++) {
        void *drawn;
        pthread_join(t[i], &drawn);
        sum += (int)(intptr_t)drawn;
    }
    assert(total == sum);
    return 0;
}
