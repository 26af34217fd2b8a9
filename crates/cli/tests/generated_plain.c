/* An interpreter for ops on plain memory: each argument is what one thread does, main the first. An op is a letter and the
   number of what it is about. Only what an op does to memory has hooks, not how it is found out. If main's ops begin with
   'm', the execution is a busy one before the others begin. */

#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

enum { N = 3 };
#define UNSEEN __attribute__((no_sanitize("thread"), noinline))
#define SEEN __attribute__((noinline))

static int plain[2];
static int *boxes[2];
static atomic_int flags[2];
static pthread_mutex_t locks[2] = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER};
static pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;

static struct thread {
    const char *ops;
    int number;
    unsigned long seen; /* everything that it has read, in order */
} threads[N];

SEEN static int get(int it) { return plain[it]; }
SEEN static void set(int it, int value) { plain[it] = value; }
SEEN static void add(int it) { plain[it]++; }
SEEN static int *open_box(int it) { return boxes[it]; }
SEEN static int look_into(int *box) { return *box; }
SEEN static void put_into(int *box, int value) { *box = value; }
SEEN static void raise_flag(int it) { atomic_store(&flags[it], 1); }
SEEN static int is_raised(int it) { return atomic_load(&flags[it]); }
SEEN static void show(int it, int *box) { boxes[it] = box; }

/* Two threads use memory in turn, thousands of times, while a third one is alive. */

static sem_t is_over;
static int turns;

UNSEEN static void *wait_for_end(void *arg) { sem_wait(&is_over); return arg; }
SEEN static void *take_turn(void *arg) { turns++; return arg; }

UNSEEN static void be_busy(void) {
    pthread_t watcher, other;
    sem_init(&is_over, 0, 0);
    pthread_create(&watcher, NULL, wait_for_end, NULL);
    pthread_create(&other, NULL, take_turn, NULL);
    pthread_join(other, NULL);
    for (int i = 0; i < 3000; i++) take_turn(NULL);
    sem_post(&is_over);
    pthread_join(watcher, NULL);
}

UNSEEN static const char *perform(struct thread *self, const char *op) {
    int it = op[1] - '0';
    int seen = 0;
    int *box;
    switch (op[0]) {
    case 'r': seen = 1 + get(it); break;
    case 'w': set(it, self->number + 1); break;
    case 'i': add(it); break;
    case '?': return op + (get(it) ? 4 : 2); /* the next one only if it is 0 */
    case 'f': raise_flag(it); break;
    case 't': return op + (is_raised(it) ? 4 : 2);
    case 'b': /* made, filled, shown, changed */
        box = malloc(sizeof *box);
        put_into(box, self->number + 1);
        show(it, box);
        put_into(box, self->number + 4);
        break;
    case 'o': box = open_box(it); seen = box ? 1 + look_into(box) : 1; break;
    case 'p': box = open_box(it); if (box) put_into(box, self->number + 1); break;
    case '[': pthread_mutex_lock(&locks[it]); break;
    case ']': pthread_mutex_unlock(&locks[it]); break;
    case '(': pthread_rwlock_rdlock(&rwlock); break;
    case '<': pthread_rwlock_wrlock(&rwlock); break;
    case ')': pthread_rwlock_unlock(&rwlock); break;
    }
    if (seen) self->seen = self->seen * 8 + seen;
    return op + 2;
}

UNSEEN static void *perform_all(void *arg) {
    struct thread *self = arg;
    for (const char *op = self->ops; *op;) op = perform(self, op);
    return NULL;
}

UNSEEN int main(int argc, char **argv) {
    pthread_t created[N];
    int n = argc - 1;
    if (argv[1][0] == 'm') {
        be_busy();
        argv[1] += 2;
    }
    for (int i = 0; i < n; i++) threads[i] = (struct thread){argv[i + 1], i, 0};
    for (int i = 1; i < n; i++) pthread_create(&created[i], NULL, perform_all, &threads[i]);
    perform_all(&threads[0]);
    for (int i = 1; i < n; i++) pthread_join(created[i], NULL);
    printf("%d %d", plain[0], plain[1]);
    for (int i = 0; i < 2; i++) printf(" %d", boxes[i] ? *boxes[i] : 0);
    for (int i = 0; i < n; i++) printf(" %lx", threads[i].seen);
    printf("\n");
    return 0;
}
