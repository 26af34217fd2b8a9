// Readers follow a pointer that a writer replaces; what it pointed to is reclaimed when no reader is left.
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>
#include <urcu.h>
#include <urcu/wfcqueue.h>

struct config {
    int a, b;
    struct rcu_head head;
};
struct item {
    struct cds_wfcq_node node;
    int value;
};

static struct config *current;
static struct cds_wfcq_head queue_head;
static struct cds_wfcq_tail queue_tail;

static void reclaim(struct rcu_head *head) {
    struct config *it = caa_container_of(head, struct config, head);
    it->a = -1;
    free(it);
}

static void *reader(void *arg) {
    rcu_register_thread();
    for (int i = 0; i < 4; i++) {
        rcu_read_lock();
        struct config *it = rcu_dereference(current);
        assert(it->a == it->b);
        rcu_read_unlock();
        struct item *item = malloc(sizeof *item);
        item->value = 1;
        cds_wfcq_node_init(&item->node);
        cds_wfcq_enqueue(&queue_head, &queue_tail, &item->node);
    }
    rcu_unregister_thread();
    return arg;
}

int main(void) {
    rcu_register_thread();
    cds_wfcq_init(&queue_head, &queue_tail);
    current = calloc(1, sizeof *current);
    pthread_t t[2];
    for (int i = 0; i < 2; i++) pthread_create(&t[i], NULL, reader, NULL);
    for (int i = 1; i < 5; i++) {
        struct config *fresh = malloc(sizeof *fresh);
        fresh->a = fresh->b = i;
        struct config *old = rcu_xchg_pointer(&current, fresh);
        if (i % 2) {
            call_rcu(&old->head, reclaim);
        } else {
            synchronize_rcu();
            reclaim(&old->head);
        }
    }
    for (int i = 0; i < 2; i++) pthread_join(t[i], NULL);
    int n = 0;
    for (struct cds_wfcq_node *it; (it = cds_wfcq_dequeue_blocking(&queue_head, &queue_tail)); n++)
        free(caa_container_of(it, struct item, node));
    assert(n == 8);
    rcu_barrier();
    free(current);
    rcu_unregister_thread();
    return 0;
}
