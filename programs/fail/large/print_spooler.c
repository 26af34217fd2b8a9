//@ expect: deadlock
//@ execs: 4000
//@ cause: pthread_cond_signal(&spool.changed);
//@ says: spool.changed T2 T3
// A spooler with one condition for its three kinds of waiters: clients that want room, the printer that wants a document,
// and the operator who wants it empty. A signal wakes one of them, and not always one that can go on.
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>

enum { CLIENTS = 2, DOCUMENTS = 2, ROOM = 2, PAGES = 3 };

struct document {
    int client, number, n_pages;
};

static struct {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    struct document queue[ROOM];
    int head, n_queued;
    int n_accepted, n_printed;
    bool is_closed;
} spool = {.lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER};

static struct {
    pthread_mutex_t lock;
    int toner, paper, n_pages;
} device = {PTHREAD_MUTEX_INITIALIZER, 100, 100, 0};

static struct {
    pthread_mutex_t lock;
    int n_by_client[CLIENTS];
} quota = {.lock = PTHREAD_MUTEX_INITIALIZER};

static void notify(void)
{
#ifdef FIXED
    pthread_cond_broadcast(&spool.changed);
#else
    pthread_cond_signal(&spool.changed);
#endif
}

static void charge(int client)
{
    pthread_mutex_lock(&quota.lock);
    quota.n_by_client[client]++;
    pthread_mutex_unlock(&quota.lock);
}

static void submit(struct document document)
{
    charge(document.client);
    pthread_mutex_lock(&spool.lock);
    while (spool.n_queued == ROOM)
        pthread_cond_wait(&spool.changed, &spool.lock);
    spool.queue[(spool.head + spool.n_queued++) % ROOM] = document;
    spool.n_accepted++;
    notify();
    pthread_mutex_unlock(&spool.lock);
}

static void print_page(void)
{
    pthread_mutex_lock(&device.lock);
    device.toner--;
    device.paper--;
    device.n_pages++;
    pthread_mutex_unlock(&device.lock);
}

static void *client(void *arg)
{
    int me = *(int *)arg;
    for (int i = 0; i < DOCUMENTS; i++)
        submit((struct document){me, i, 1 + i});
    return NULL;
}

static void *printer(void *arg)
{
    for (;;) {
        pthread_mutex_lock(&spool.lock);
        while (spool.n_queued == 0 && !spool.is_closed)
            pthread_cond_wait(&spool.changed, &spool.lock);
        if (spool.n_queued == 0) {
            pthread_mutex_unlock(&spool.lock);
            return arg;
        }
        struct document document = spool.queue[spool.head];
        spool.head = (spool.head + 1) % ROOM;
        spool.n_queued--;
        notify();
        pthread_mutex_unlock(&spool.lock);
        for (int page = 0; page < document.n_pages; page++)
            print_page();
        pthread_mutex_lock(&spool.lock);
        spool.n_printed++;
        notify();
        pthread_mutex_unlock(&spool.lock);
    }
}

static void *operator(void *arg)
{
    pthread_mutex_lock(&spool.lock);
    while (spool.n_printed < CLIENTS * DOCUMENTS)
        pthread_cond_wait(&spool.changed, &spool.lock);
    spool.is_closed = true;
    notify();
    pthread_mutex_unlock(&spool.lock);
    return arg;
}

int main(void)
{
    pthread_t threads[CLIENTS + 2];
    int numbers[CLIENTS];
    for (int i = 0; i < CLIENTS; i++) {
        numbers[i] = i;
        pthread_create(&threads[i], NULL, client, &numbers[i]);
    }
    pthread_create(&threads[CLIENTS], NULL, printer, NULL);
    pthread_create(&threads[CLIENTS + 1], NULL, operator, NULL);
    for (int i = 0; i < CLIENTS + 2; i++)
        pthread_join(threads[i], NULL);
    return 0;
}
