// Rings, stacks and spinlocks of Concurrency Kit: nothing that was put in may be lost or come out twice.
#include <assert.h>
#include <ck_barrier.h>
#include <ck_epoch.h>
#include <ck_ring.h>
#include <ck_spinlock.h>
#include <ck_stack.h>
#include <pthread.h>
#include <stdlib.h>

#define N 6
static ck_ring_t ring;
static ck_ring_buffer_t buffer[4];
static ck_stack_t stack = CK_STACK_INITIALIZER;
static ck_spinlock_ticket_t ticket = CK_SPINLOCK_TICKET_INITIALIZER;
static ck_epoch_t epoch;
static long counter, sum;
static int items[2 * N];

struct entry {
    int value;
    ck_stack_entry_t link;
    ck_epoch_entry_t old;
};

static void destroy(ck_epoch_entry_t *it) {
    free((char *)it - offsetof(struct entry, old));
}

static void *worker(void *arg) {
    int *mine = arg;
    ck_epoch_record_t *record = malloc(sizeof *record);
    ck_epoch_register(&epoch, record, NULL);
    for (int i = 0; i < N; i++) {
        void *got;
        if (ck_ring_enqueue_mpmc(&ring, buffer, &mine[i]) && ck_ring_dequeue_mpmc(&ring, buffer, &got))
            __atomic_fetch_add((int *)got, 1, __ATOMIC_RELAXED);
        struct entry *entry = malloc(sizeof *entry);
        entry->value = 1;
        ck_stack_push_upmc(&stack, &entry->link);
        ck_epoch_begin(record, NULL);
        ck_stack_entry_t *link = ck_stack_pop_upmc(&stack);
        assert(link);
        struct entry *popped = (struct entry *)((char *)link - offsetof(struct entry, link));
        ck_spinlock_ticket_lock(&ticket);
        counter++, sum += popped->value;
        ck_spinlock_ticket_unlock(&ticket);
        ck_epoch_end(record, NULL);
        ck_epoch_call(record, &popped->old, destroy);
    }
    ck_epoch_barrier(record);
    ck_epoch_unregister(record);
    return NULL;
}

int main(void) {
    ck_ring_init(&ring, 4);
    ck_epoch_init(&epoch);
    pthread_t t[2];
    for (int i = 0; i < 2; i++) pthread_create(&t[i], NULL, worker, &items[i * N]);
    for (int i = 0; i < 2; i++) pthread_join(t[i], NULL);
    assert(counter == 2 * N && sum == 2 * N);
    for (int i = 0; i < 2 * N; i++) assert(items[i] <= 1);
    return 0;
}
