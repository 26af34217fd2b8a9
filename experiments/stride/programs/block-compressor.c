//@ expect: crash
// A producer reads blocks into a queue, consumers compress them. The main thread waits until every block was taken out,
// and gives the queue back; a consumer may still be about to release its lock.
#include <pthread.h>
#include <stdlib.h>

enum { CONSUMERS = 2, BLOCKS = 4, ROOM = 2 };
struct queue {
    pthread_mutex_t *lock;
    pthread_cond_t changed;
    int blocks[ROOM], n_in, n_out;
};
static pthread_mutex_t done_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t done_changed = PTHREAD_COND_INITIALIZER;
static int n_done, compressed[BLOCKS];
static struct queue *queue;

static void *produce(void *arg)
{
    for (int i = 0; i < BLOCKS; i++) {
        pthread_mutex_lock(queue->lock);
        while (queue->n_in - queue->n_out == ROOM)
            pthread_cond_wait(&queue->changed, queue->lock);
        queue->blocks[queue->n_in++ % ROOM] = i;
        pthread_cond_broadcast(&queue->changed);
        pthread_mutex_unlock(queue->lock);
    }
    return arg;
}

static void *consume(void *arg)
{
    for (;;) {
        pthread_mutex_lock(queue->lock);
        while (queue->n_out == queue->n_in && queue->n_out < BLOCKS)
            pthread_cond_wait(&queue->changed, queue->lock);
        if (queue->n_out == BLOCKS) {
            pthread_mutex_unlock(queue->lock);
            return arg;
        }
        int block = queue->blocks[queue->n_out++ % ROOM];
        pthread_cond_broadcast(&queue->changed);
        pthread_mutex_unlock(queue->lock);

        compressed[block] = block * block;
        pthread_mutex_lock(&done_lock);
        n_done++;
        pthread_cond_signal(&done_changed);
        pthread_mutex_unlock(&done_lock);
    }
}

int main(void)
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    pthread_t t[CONSUMERS + 1];
    queue = malloc(sizeof *queue);
    *queue = (struct queue){.lock = &lock, .changed = PTHREAD_COND_INITIALIZER};
    for (int i = 0; i <= CONSUMERS; i++)
        pthread_create(&t[i], NULL, i == 0 ? produce : consume, NULL);
    pthread_mutex_lock(&done_lock);
    while (n_done < BLOCKS)
        pthread_cond_wait(&done_changed, &done_lock);
    pthread_mutex_unlock(&done_lock);
    pthread_join(t[0], NULL);
    struct queue *old = queue;
    queue = NULL; // should be after the consumers' end
    free(old);
    for (int i = 1; i <= CONSUMERS; i++)
        pthread_join(t[i], NULL);
    return 0;
}
