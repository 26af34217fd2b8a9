//@ expect: pass
//@ execs: 20
// The same memory as blocks of ever other sizes: what was beside one is inside of the next.
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *worker(void *arg)
{
    static const int sizes[] = {5, 24, 31, 100, 200, 1500, 40, 3000, 17};
    for (int round = 0; round < 2; round++) {
        char *blocks[9];
        pthread_mutex_lock(&lock);
        for (int i = 0; i < 9; i++) {
            blocks[i] = malloc(sizes[(i + round) % 9]);
            for (int at = 0; at < sizes[(i + round) % 9]; at += 4)
                blocks[i][at] = i;
            blocks[i][sizes[(i + round) % 9] - 1] = i;
        }
        for (int i = 0; i < 9; i++)
            free(blocks[(i * 4) % 9]);
        pthread_mutex_unlock(&lock);
    }
    return arg;
}

int main(void)
{
    pthread_t a;
    pthread_create(&a, NULL, worker, NULL);
    worker(NULL);
    pthread_join(a, NULL);
    return 0;
}
