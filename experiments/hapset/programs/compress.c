// A parallel compressor: consumers take blocks from a queue and fill output buffers, a writer takes them in
// order. `main` frees the queue when the producer is done, and does not wait for the consumers.
// With FIXED it waits; but the writer takes a buffer as soon as it is there, when its size may not be yet.
// Bug: order violation (crash); fixed: race (assertion). Argument: consumers.
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>

enum { BLOCKS = 2 };

struct queue {
    pthread_mutex_t lock;
    pthread_cond_t not_empty;
    int n_blocks, is_closed, next;
};

static struct queue *volatile fifo;
static char blocks[BLOCKS];
static struct {
    char *volatile data;
    volatile int size;
} output[BLOCKS];
static int n_written;

static void *consume(void *arg)
{
    for (;;) {
        struct queue *queue = fifo;
        pthread_mutex_lock(&queue->lock);
        while (queue->n_blocks == 0 && !queue->is_closed)
            pthread_cond_wait(&queue->not_empty, &queue->lock);
        if (queue->n_blocks == 0) {
            pthread_mutex_unlock(&queue->lock);
            return arg;
        }
        int idx = queue->next++;
        queue->n_blocks--;
        pthread_mutex_unlock(&queue->lock);
        output[idx].data = &blocks[idx];
        output[idx].size = 7;
    }
}

static void *write_out(void *arg)
{
    for (int i = 0; i < BLOCKS; i++) {
        if (output[i].data == NULL)
            return arg;
        assert(output[i].size == 7);
        n_written++;
    }
    return arg;
}

static void produce(void)
{
    for (int i = 0; i < BLOCKS; i++) {
        pthread_mutex_lock(&fifo->lock);
        fifo->n_blocks++;
        pthread_cond_signal(&fifo->not_empty);
        pthread_mutex_unlock(&fifo->lock);
    }
    pthread_mutex_lock(&fifo->lock);
    fifo->is_closed = 1;
    pthread_cond_broadcast(&fifo->not_empty);
    pthread_mutex_unlock(&fifo->lock);
}

int main(int argc, char **argv)
{
    int n_consumers = argc > 1 ? atoi(argv[1]) : 2;
    pthread_t consumers[16], writer;
    fifo = calloc(1, sizeof *fifo);
    pthread_mutex_init(&fifo->lock, NULL);
    pthread_cond_init(&fifo->not_empty, NULL);
    for (int i = 0; i < n_consumers; i++)
        pthread_create(&consumers[i], NULL, consume, NULL);
    pthread_create(&writer, NULL, write_out, NULL);
    produce();
#ifdef FIXED
    for (int i = 0; i < n_consumers; i++)
        pthread_join(consumers[i], NULL);
    fifo = NULL;
#else
    fifo = NULL;
    for (int i = 0; i < n_consumers; i++)
        pthread_join(consumers[i], NULL);
#endif
    pthread_join(writer, NULL);
    return 0;
}
