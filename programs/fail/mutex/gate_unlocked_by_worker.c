//@ expect: misuse
//@ execs: 100
//@ cause: pthread_mutex_lock(&it->start_gate); | pthread_mutex_unlock(&it->start_gate);
//@ says: start_gate T0 T1
// A mutex that is locked before there are threads serves as a gate, and a worker "opens" it: the holder took it when
// it was alone.
#include <pthread.h>

struct crew {
    pthread_mutex_t start_gate;
    int n_ready;
};

static struct crew crew;

static void open_gate(struct crew *it)
{
    it->n_ready++;
    pthread_mutex_unlock(&it->start_gate);
}

static void *worker(void *arg)
{
    open_gate(arg);
    return NULL;
}

static void close_gate(struct crew *it)
{
    pthread_mutex_init(&it->start_gate, NULL);
    pthread_mutex_lock(&it->start_gate); // closed
}

int main(void)
{
    pthread_t thread;
    close_gate(&crew);
    pthread_create(&thread, NULL, worker, &crew);
    pthread_join(thread, NULL);
    return crew.n_ready == 1 ? 0 : 1;
}
