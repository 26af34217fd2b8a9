/* Performs a trace in exactly its order: each line of the file names a thread, an operation, where, and how many bytes.
   The order is kept by a relaxed atomic, which orders nothing else. Only the operations are instrumented. */

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

enum { N_THREADS = 4, N_LOCKS = 3, SIZE = 256, MOST = 1 << 15 };
#define UNSEEN __attribute__((no_sanitize("thread"), noinline))
#define SEEN __attribute__((noinline))

static struct op {
    int thread, at, size;
    char kind;
} ops[MOST];
static int n_ops;

static unsigned char memory[SIZE] __attribute__((aligned(64)));
static pthread_mutex_t locks[N_LOCKS];
static atomic_int counts[N_LOCKS];
static atomic_int turn;

struct unaligned {
    uint64_t value;
} __attribute__((packed));

SEEN static int read1(void *at) { return *(unsigned char *)at; }
SEEN static int read2(void *at) { return *(uint16_t *)at; }
SEEN static int read4(void *at) { return *(int *)at; }
SEEN static int read8(void *at) { return (int)((struct unaligned *)at)->value; }
SEEN static void write1(void *at) { *(unsigned char *)at = 1; }
SEEN static void write2(void *at) { *(uint16_t *)at = 1; }
SEEN static void write4(void *at) { *(int *)at = 1; }
SEEN static void write8(void *at) { ((struct unaligned *)at)->value = 1; }
SEEN static void fill(void *at, int size) { memset(at, 1, (size_t)size); }
SEEN static void meet(int it) { atomic_fetch_add_explicit(&counts[it], 1, memory_order_acq_rel); }
SEEN static int whose(void) { return atomic_load_explicit(&turn, memory_order_relaxed); }
SEEN static void pass_on(int next) { atomic_store_explicit(&turn, next, memory_order_relaxed); }

UNSEEN static int perform(const struct op *op) {
    void *at = &memory[op->at];
    switch (op->kind) {
    case 'r':
        return op->size == 1 ? read1(at) : op->size == 2 ? read2(at) : op->size == 4 ? read4(at) : read8(at);
    case 'w':
        op->size == 1 ? write1(at) : op->size == 2 ? write2(at) : op->size == 4 ? write4(at) : write8(at);
        break;
    case 'f': fill(at, op->size); break;
    case '[': pthread_mutex_lock(&locks[op->at]); break;
    case ']': pthread_mutex_unlock(&locks[op->at]); break;
    case 'm': meet(op->at); break;
    }
    return 0;
}

UNSEEN static void *perform_own(void *arg) {
    int me = (int)(intptr_t)arg;
    long sum = 0;
    for (int i = 0; i < n_ops; i++) {
        if (ops[i].thread != me)
            continue;
        while (whose() != i)
            sched_yield();
        /* As many as are its own in a row. */
        for (; i < n_ops && ops[i].thread == me; i++)
            sum += perform(&ops[i]);
        pass_on(i);
    }
    return (void *)sum;
}

UNSEEN int main(int argc, char **argv) {
    FILE *trace = fopen(argc > 1 ? argv[1] : "trace", "r");
    struct op op;
    while (trace && n_ops < MOST && fscanf(trace, "%d %c %d %d", &op.thread, &op.kind, &op.at, &op.size) == 4)
        ops[n_ops++] = op;
    pthread_t threads[N_THREADS];
    for (int i = 0; i < N_LOCKS; i++)
        pthread_mutex_init(&locks[i], NULL);
    for (intptr_t i = 0; i < N_THREADS; i++)
        pthread_create(&threads[i], NULL, perform_own, (void *)i);
    for (int i = 0; i < N_THREADS; i++)
        pthread_join(threads[i], NULL);
    return n_ops > 0 ? 0 : 9;
}
