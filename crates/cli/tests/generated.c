/* An interpreter: each argument is the code of one thread, the first one that of main. An operation is a letter and the
   number of its object; `[`, `{`, `(` and `<` start a critical section that contains the next operation. */

#include <assert.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdio.h>
#include <time.h>

enum { N = 3 };

static volatile int plain[2];
static atomic_int shared[2];
static int is_called[2];
static pthread_mutex_t locks[2] = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER};
static pthread_mutex_t monitor = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t calls[2] = {PTHREAD_COND_INITIALIZER, PTHREAD_COND_INITIALIZER};
static pthread_rwlock_t rwlocks[2] = {PTHREAD_RWLOCK_INITIALIZER, PTHREAD_RWLOCK_INITIALIZER};
static sem_t sems[2];

static struct thread {
    const char *ops;
    int number;
    long seen; /* everything that it has read, in order */
} threads[N];

static const char *perform(struct thread *self, const char *op);

/* The op after a lock's number, between lock and unlock; without the lock it is passed over. */
static const char *section(struct thread *self, const char *op) {
    int it = op[1] - '0';
    struct timespec soon = {1, 0};
    const char *rest = op + 4;
    switch (op[0]) {
    case '[': pthread_mutex_lock(&locks[it]); break;
    case '{': if (pthread_mutex_trylock(&locks[it])) return rest; break;
    case '!': if (pthread_mutex_timedlock(&locks[it], &soon)) return rest; break;
    case '(': pthread_rwlock_rdlock(&rwlocks[it]); break;
    case '<': pthread_rwlock_wrlock(&rwlocks[it]); break;
    }
    perform(self, op + 2);
    if (op[0] == '(' || op[0] == '<') pthread_rwlock_unlock(&rwlocks[it]);
    else pthread_mutex_unlock(&locks[it]);
    return rest;
}

static const char *perform(struct thread *self, const char *op) {
    int it = op[1] - '0';
    int zero = 0;
    switch (op[0]) {
    case 'r': self->seen = self->seen * 8 + plain[it] + 1; break;
    case 'w': plain[it] = self->number + 1; break;
    case 'l': self->seen = self->seen * 8 + shared[it] + 1; break;
    case 's': shared[it] = self->number + 1; break;
    case 'a': self->seen = self->seen * 8 + atomic_fetch_add(&shared[it], 1) + 1; break;
    case 'c': self->seen = self->seen * 8 + atomic_compare_exchange_strong(&shared[it], &zero, 4); break;
    case 'x': assert(shared[it] != 2); break;
    case 'p': sem_post(&sems[it]); break;
    case 'd': sem_wait(&sems[it]); break;
    case 't': self->seen = self->seen * 8 + (sem_trywait(&sems[it]) == 0) + 1; break;
    case 'v':
        pthread_mutex_lock(&monitor);
        if (!is_called[it]) pthread_cond_wait(&calls[it], &monitor);
        pthread_mutex_unlock(&monitor);
        break;
    case 'n':
        pthread_mutex_lock(&monitor);
        is_called[it] = 1;
        pthread_cond_signal(&calls[it]);
        pthread_mutex_unlock(&monitor);
        break;
    case 'u': pthread_cond_signal(&calls[it]); break;
    default: return section(self, op);
    }
    return op + 2;
}

static void *perform_all(void *arg) {
    struct thread *self = arg;
    for (const char *op = self->ops; *op;) op = perform(self, op);
    return NULL;
}

int main(int argc, char **argv) {
    pthread_t created[N];
    int n = argc - 1;
    for (int i = 0; i < 2; i++) sem_init(&sems[i], 0, i);
    for (int i = 0; i < n; i++) threads[i] = (struct thread){argv[i + 1], i, 0};
    for (int i = 1; i < n; i++) pthread_create(&created[i], NULL, perform_all, &threads[i]);
    perform_all(&threads[0]);
    for (int i = 1; i < n; i++) pthread_join(created[i], NULL);
    printf("%d %d %d %d", plain[0], plain[1], shared[0], shared[1]);
    for (int i = 0; i < n; i++) printf(" %lx", threads[i].seen);
    printf("\n");
    return 0;
}
