//@ expect: pass
//@ execs: 100
// A pipeline in C11 threads: three stages joined by bounded queues of mtx_t and cnd_t; stages keep
// counters in thread-specific storage with a destructor, and end when an end mark comes through.
#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include <threads.h>
#include <time.h>

enum { ROOM = 2, N_ITEMS = 4, N_STAGES = 3 };

struct item {
    int number;
    char text[24];
};

struct queue {
    mtx_t lock;
    cnd_t has_item, has_room;
    struct item *items[ROOM];
    int first, count;
};

static struct queue queues[N_STAGES - 1];
static tss_t counter_key;
static once_flag once = ONCE_FLAG_INIT;
static mtx_t total_lock;
static int total, n_destroyed;

static void add_to_total(void *value)
{
    int *count = value;
    mtx_lock(&total_lock);
    total += *count;
    n_destroyed++;
    mtx_unlock(&total_lock);
    free(count);
}

static void make_key(void)
{
    assert(tss_create(&counter_key, add_to_total) == thrd_success);
}

static void count_one(void)
{
    call_once(&once, make_key);
    int *count = tss_get(counter_key);
    if (!count) {
        count = calloc(1, sizeof *count);
        assert(tss_set(counter_key, count) == thrd_success);
    }
    ++*count;
}

static void put(struct queue *queue, struct item *item)
{
    mtx_lock(&queue->lock);
    while (queue->count == ROOM)
        cnd_wait(&queue->has_room, &queue->lock);
    queue->items[(queue->first + queue->count++) % ROOM] = item;
    cnd_signal(&queue->has_item);
    mtx_unlock(&queue->lock);
}

static struct item *get(struct queue *queue)
{
    mtx_lock(&queue->lock);
    while (queue->count == 0) {
        struct timespec until;
        timespec_get(&until, TIME_UTC);
        until.tv_sec += 1;
        int result = cnd_timedwait(&queue->has_item, &queue->lock, &until);
        assert(result == thrd_success || result == thrd_timedout);
    }
    struct item *item = queue->items[queue->first];
    queue->first = (queue->first + 1) % ROOM;
    queue->count--;
    cnd_signal(&queue->has_room);
    mtx_unlock(&queue->lock);
    return item;
}

static int produce(void *arg)
{
    (void)arg;
    for (int i = 0; i < N_ITEMS; i++) {
        struct item *item = calloc(1, sizeof *item);
        item->number = i;
        put(&queues[0], item);
        count_one();
    }
    put(&queues[0], NULL);
    return N_ITEMS;
}

static int transform(void *arg)
{
    int n = 0;
    (void)arg;
    for (struct item *item; (item = get(&queues[0])); n++) {
        memset(item->text, 'a' + item->number, item->number + 1);
        put(&queues[1], item);
        count_one();
    }
    put(&queues[1], NULL);
    thrd_exit(n);
}

static int consume(void *arg)
{
    int n = 0;
    (void)arg;
    for (struct item *item; (item = get(&queues[1])); n++) {
        assert(item->number == n);
        assert((int)strlen(item->text) == n + 1 && item->text[n] == 'a' + n);
        free(item);
        count_one();
    }
    return n;
}

int main(void)
{
    thrd_t stages[N_STAGES];
    int (*const start[N_STAGES])(void *) = { produce, transform, consume };
    assert(mtx_init(&total_lock, mtx_plain) == thrd_success);
    for (int i = 0; i < N_STAGES - 1; i++) {
        assert(mtx_init(&queues[i].lock, mtx_timed) == thrd_success);
        assert(cnd_init(&queues[i].has_item) == thrd_success);
        assert(cnd_init(&queues[i].has_room) == thrd_success);
    }
    for (int i = 0; i < N_STAGES; i++)
        assert(thrd_create(&stages[i], start[i], NULL) == thrd_success);
    for (int i = 0; i < N_STAGES; i++) {
        int result = -1;
        assert(thrd_join(stages[i], &result) == thrd_success);
        assert(result == N_ITEMS);
    }
    assert(total == N_STAGES * N_ITEMS && n_destroyed == N_STAGES);
    for (int i = 0; i < N_STAGES - 1; i++) {
        mtx_destroy(&queues[i].lock);
        cnd_destroy(&queues[i].has_item);
        cnd_destroy(&queues[i].has_room);
    }
    mtx_destroy(&total_lock);
    tss_delete(counter_key);
    return 0;
}
