// A parallel compressor: `main` produces blocks, consumers take them from a queue and fill output buffers, a writer takes
// these in order. `main` frees the queue when all is produced, and does not wait for the consumers.
// With FIXED it waits; but the writer takes a buffer as soon as it is there, when its size may not be yet.
// Bug: order violation (crash); fixed: race (assertion). Argument: consumers.
#include <assert.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>

enum { BLOCKS = 4 };

struct queue {
    pthread_mutex_t lock;
    pthread_cond_t not_empty;
    int n_blocks, is_closed, next;
};

static struct queue *volatile fifo;
static pthread_mutex_t log_lock = PTHREAD_MUTEX_INITIALIZER, memory_lock = PTHREAD_MUTEX_INITIALIZER;
static int n_logged, n_used;
static char blocks[BLOCKS];
static struct {
    char *volatile data;
    volatile int size;
} output[BLOCKS];
static int n_written;

static void account(int n)
{
    pthread_mutex_lock(&memory_lock);
    n_used += n;
    pthread_mutex_unlock(&memory_lock);
}

static void log_line(void)
{
    pthread_mutex_lock(&log_lock);
    n_logged++;
    pthread_mutex_unlock(&log_lock);
}

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
        account(1);
        output[idx].data = &blocks[idx];
        output[idx].size = 7;
        log_line();
    }
}

static void *write_out(void *arg)
{
    for (int i = 0; i < BLOCKS; i++) {
        while (output[i].data == NULL)
            sched_yield();
        assert(output[i].size == 7);
        n_written++;
        account(-1);
        log_line();
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
    assert(n_written == BLOCKS);
    return 0;
}
