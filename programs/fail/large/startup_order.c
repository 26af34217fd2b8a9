//@ expect: crash
//@ execs: 4000
//@ cause: service *service = component->service; | component->service = services[me];
//@ says: components[2].service T3 T6
// Components start in threads of their own and wait until those that they need are running. One of them says that it is
// running before its table of functions is there; only who needs it at once can notice.
#include <pthread.h>
#include <stddef.h>

enum { COMPONENTS = 6, CALLS = 2 };
enum state { STOPPED, STARTING, RUNNING };

typedef int service(int);

struct component {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    enum state state;
    service *service;
    int n_calls;
    int needs[2];
};

static struct component components[COMPONENTS];
static struct {
    pthread_mutex_t lock;
    int n_events, last;
} journal = {.lock = PTHREAD_MUTEX_INITIALIZER};

static int clock_now(int n) { return n + 1; }
static int log_line(int n) { return n * 2; }
static int store_get(int n) { return n ^ 5; }
static int net_send(int n) { return n - 3; }
static int auth_check(int n) { return n % 7; }
static int api_serve(int n) { return n | 8; }

static service *const services[COMPONENTS] = {clock_now, log_line, store_get, net_send, auth_check, api_serve};

static void write_journal(int event)
{
    pthread_mutex_lock(&journal.lock);
    journal.n_events++;
    journal.last = event;
    pthread_mutex_unlock(&journal.lock);
}

static void enter(struct component *component, enum state state)
{
    pthread_mutex_lock(&component->lock);
    component->state = state;
    pthread_cond_broadcast(&component->changed);
    pthread_mutex_unlock(&component->lock);
}

static void await(struct component *component)
{
    pthread_mutex_lock(&component->lock);
    while (component->state != RUNNING)
        pthread_cond_wait(&component->changed, &component->lock);
    pthread_mutex_unlock(&component->lock);
}

static int call(int which, int value)
{
    struct component *component = &components[which];
    pthread_mutex_lock(&component->lock);
    component->n_calls++;
    service *service = component->service;
    pthread_mutex_unlock(&component->lock);
    return service(value);
}

static void publish(struct component *component, int me)
{
    pthread_mutex_lock(&component->lock);
    component->service = services[me];
    pthread_mutex_unlock(&component->lock);
}

static void *start(void *arg)
{
    struct component *component = arg;
    int me = (int)(component - components), value = me;
    enter(component, STARTING);
    write_journal(me);
    for (int i = 0; i < 2; i++)
        if (component->needs[i] >= 0)
            await(&components[component->needs[i]]);
#ifndef FIXED
    if (me == 2) {
        // The store replays its journal before it can serve, and is counted as running from then on.
        enter(component, RUNNING);
        publish(component, me);
    } else
#endif
    {
        publish(component, me);
        enter(component, RUNNING);
    }
    write_journal(me + 100);
    for (int i = 0; i < CALLS; i++)
        if (component->needs[i] >= 0)
            value = call(component->needs[i], value);
    write_journal(value);
    return NULL;
}

int main(void)
{
    static const int needs[COMPONENTS][2] = {{-1, -1}, {0, -1}, {0, 1}, {1, -1}, {1, 0}, {3, 2}};
    pthread_t threads[COMPONENTS];
    for (int i = 0; i < COMPONENTS; i++) {
        pthread_mutex_init(&components[i].lock, NULL);
        pthread_cond_init(&components[i].changed, NULL);
        components[i].needs[0] = needs[i][0];
        components[i].needs[1] = needs[i][1];
    }
    for (int i = 0; i < COMPONENTS; i++)
        pthread_create(&threads[i], NULL, start, &components[i]);
    for (int i = 0; i < COMPONENTS; i++)
        pthread_join(threads[i], NULL);
    return 0;
}
